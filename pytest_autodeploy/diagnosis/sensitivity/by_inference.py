"""How much each inference of a run notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity
from pytest_autodeploy.limits.sensitivity import STEP, STEPS

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.diagnosis.sensitivity.measure import ByPath
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs

SECONDS = 20.0
"""What the choice of an example may take; when it is over, the operators known so far decide."""


def noticed_by_each(
    model: Model,
    inputs: Inputs,
    by_path: ByPath,
    tolerance: Tolerance,
    *,
    reset_each: bool,
    progress: Progress,
) -> list[int]:
    """Of each inference, how many operators it notices at 64 steps and at 1 step, added up.

    Nothing where that cannot be known: without TFLM on this PC, and of a model that TFLM refuses.
    """
    counts = [0] * inputs.count
    try:
        found = sensitivity(
            model,
            inputs,
            by_path,
            tolerance,
            reset_each=reset_each,
            seconds=SECONDS,
            changes=(STEPS, STEP),
            each=True,
            progress=progress,
        )
    except AutodeployError:
        return []
    for operator in found.operators:
        for change in operator.changes.values():
            for inference in (number for by in change.by for number in by):
                counts[inference] += 1
    return counts
