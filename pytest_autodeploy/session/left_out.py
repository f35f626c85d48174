"""What modelled time and energy leave out of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.model.tested import tested_operators
from pytest_autodeploy.sim.timing import unmodelled

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model


def left_out(model: Model) -> tuple[str, ...]:
    """The operators of a model whose work is unknown, by name."""
    return unmodelled(tested_operators(model))
