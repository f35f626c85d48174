"""Finding out what inputs would notice, within a time, in a process that may crash."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.progress import silent
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
from pytest_autodeploy.diagnosis.sensitivity.trials import Probing, engine
from pytest_autodeploy.limits.sensitivity import CHANGES
from pytest_autodeploy.sim.pieces import main_operators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs

    ByPath = Mapping[str, Sequence[NDArray[Any]]]

SECONDS = 120.0
"""What it may take unless somebody says otherwise."""


def sensitivity(
    model: Model,
    inputs: Inputs,
    by_path: ByPath,
    tolerance: Tolerance,
    *,
    reset_each: bool = False,
    seconds: float = SECONDS,
    changes: Sequence[str] = CHANGES,
    each: bool = False,
    progress: Progress = silent,
) -> Sensitivity:
    """For each operator, whether a test on these inputs would fail if it were wrong.

    ``by_path`` is what the paths of the PC give for the inputs, ``reset_each`` as in a run on a
    board. TFLM on this PC runs the model once, and for every operator what is behind it, on changed
    outputs. ``each``: find every inference that notices, not only the first. After ``seconds`` the
    rest is unknown; it begins at the last operator, which costs least.

    Raises MissingExtra without TFLM, and ReferenceFailed when it cannot run the model.
    """
    began = time.monotonic()
    with Probing(model, tolerance, reset_each=reset_each, seconds=seconds) as probing:
        doubtful = probing.take(inputs, by_path)
        body = main_operators(model)
        operators = []
        for done, position in enumerate(reversed(range(len(body))), 1):
            found = probing.operator(position, changes, each=each)
            if found.changes or found.unknown:  # else there is nothing that could be wrong
                operators.append(found)
            progress("operator changed:", done, len(body))
    return Sensitivity(
        inputs=inputs.origin,
        count=inputs.count,
        tolerance="; ".join(dict.fromkeys(tolerance.text(t.dtype) for t in model.outputs)),
        engine=engine(),
        operators=tuple(reversed(operators)),
        seconds=time.monotonic() - began,
        doubtful=doubtful,
    )
