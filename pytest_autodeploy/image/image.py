"""What is flashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model


@dataclass(frozen=True)
class Image:
    """What is flashed: a model and the arena it gets.

    ``arena_bytes`` 0 is all of the memory that is chosen for it: the first with room for what is
    likely to be enough, or with ``roomy`` the largest.
    """

    model: Model
    arena_bytes: int = 0
    roomy: bool = False
