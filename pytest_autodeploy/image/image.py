"""What is flashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model


@dataclass(frozen=True)
class Image:
    """What is flashed: a model and the arena it gets; ``arena_bytes`` 0 is the largest possible."""

    model: Model
    arena_bytes: int = 0
