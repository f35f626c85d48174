"""State that a board does not carry: told from TFLM on the PC with and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_autodeploy.diagnosis.evidence import held_against
from pytest_autodeploy.model.graph import STATEFUL, Model, Operator

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.evidence import Arrays
    from pytest_autodeploy.limits.tolerance import Tolerance

CLEARLY = 8
"""How many times nearer the board has to be to fresh state, where its kernels round otherwise."""

_VARIABLES = frozenset(("ASSIGN_VARIABLE", "READ_VARIABLE"))


def stateful_operators(model: Model) -> list[Operator]:
    """The operators of the main subgraph that keep something from one inference to the next."""
    return [operator for operator in model.operators if operator.subgraph == 0 and _keeps(operator)]


def _keeps(operator: Operator) -> bool:
    if operator.custom:
        return operator.name in STATEFUL
    return operator.name in _VARIABLES or any(t and t.variable for t in operator.inputs)


def drops_state(
    model: Model, board: Arrays, carried: Arrays, fresh: Arrays, tolerance: Tolerance
) -> bool:
    """Whether the board gives what TFLM gives with ``fresh`` state, and not what it ``carried``.

    All are outputs of several inferences, an array (n, *tensor shape) each.
    """
    if len(board[0]) < 2:
        return False
    to_carried = held_against(model, board, carried, tolerance).gap()
    to_fresh = held_against(model, board, fresh, tolerance).gap()
    if to_carried.within or to_carried.exact:
        return False
    if to_fresh.within or to_fresh.exact:
        return True
    peak = max(float(np.abs(values.astype(np.float64)).max(initial=0)) for values in fresh)
    return to_fresh.distance * CLEARLY <= min(to_carried.distance, peak)


def first_departure(
    model: Model, board: Arrays, other: Arrays, tolerance: Tolerance, *, exact: bool
) -> int | None:
    """The first inference in which the board is off: at all where ``exact``, else beyond limits."""
    held = held_against(model, board, other, tolerance)
    off = np.flatnonzero(held.distances > 0 if exact else held.shares > 1)
    return int(off[0]) if len(off) else None


def dropped_text(model: Model, count: int) -> tuple[str, str]:
    """The evidence, and where: the operators that should have kept their state."""
    names = ", ".join(
        f"{position} {operator.name}"
        for position, operator in enumerate(op for op in model.operators if op.subgraph == 0)
        if _keeps(operator)
    )
    evidence = (
        f"over {count} inferences the board gives what TFLM on the PC gives when its state is reset"
        " before each"
    )
    return evidence, f"in operator {names}: what it keeps is lost after every inference"
