"""Why the outputs of a board differ from the PC's, and in which operator that starts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.carried import state_is_dropped
from pytest_autodeploy.diagnosis.case import Case
from pytest_autodeploy.diagnosis.chosen import choose
from pytest_autodeploy.diagnosis.conclusion import compared, explained
from pytest_autodeploy.diagnosis.not_finite import by_model
from pytest_autodeploy.diagnosis.pc import PcSides
from pytest_autodeploy.diagnosis.rerun import rerun, stage

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession

LIMIT_S = 300.0
"""What an explanation may take; a call to a board or a build that has begun may exceed it."""


def explain(
    session: ModelSession,
    run: RunResult,
    agreement: Agreement,
    tolerance: Tolerance,
    *,
    limit_s: float = LIMIT_S,
) -> Explanation:
    """Find out why the outputs of a run on the session's board differ from the PC's.

    The inferences that failed are repeated on the board, and run through all kernels of the PC and
    TFLM; then one of them is compared operator by operator. Of a run that passed only the
    operators are compared. What cannot be done is told by ``problems``. Afterwards the session
    flashes its model again where that is needed. Raises ReferenceFailed when the PC cannot run the
    model again.
    """
    until = time.monotonic() + limit_s
    chosen = choose(session.model, run, agreement)
    with PcSides(session.model, until, tuple(agreement.nearest)) as pc:
        by_side = pc.outputs(chosen.inputs, reset_each=run.reset_each)
        if not agreement.passed and (found := by_model(session.model, chosen, pc, agreement)):
            return found
        case = Case(session, run, agreement, tolerance, chosen, pc, by_side)
        problems: list[str] = []
        evidence = rerun(case, problems)
        dropped = state_is_dropped(case)
        scene = stage(case, evidence, until)
        if agreement.passed:
            return compared(scene, problems)
        return explained(scene, evidence, problems, agreement.distance, dropped=dropped)
