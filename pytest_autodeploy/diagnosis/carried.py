"""A run that carries state: whether the board drops it, and where the board first leaves TFLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.diagnosis.chosen import Chosen, refocus
from pytest_autodeploy.diagnosis.state import drops_state, first_departure

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.case import Case


def state_is_dropped(case: Case) -> bool:
    """Whether the board is like TFLM with its state reset before each inference."""
    if not case.carries or TFLM_PATH not in case.by_side:
        return False
    fresh = case.pc.outputs(case.chosen.inputs, reset_each=True).get(TFLM_PATH)
    return fresh is not None and drops_state(
        case.model, case.chosen.outputs, case.by_side[TFLM_PATH], fresh, case.tolerance
    )


def focus(case: Case, *, exact: bool) -> Chosen:
    """With carried state, the operators of the first inference in which the board left TFLM."""
    chosen = case.chosen
    if not case.carries or TFLM_PATH not in case.by_side:
        return chosen
    first = first_departure(
        case.model, chosen.outputs, case.by_side[TFLM_PATH], case.tolerance, exact=exact
    )
    return chosen if first is None else refocus(chosen, first)
