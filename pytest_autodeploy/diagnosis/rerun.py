"""What is run again for a case: its evidence, and the scene in which operators are compared."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.diagnosis.board import repeated
from pytest_autodeploy.diagnosis.carried import focus
from pytest_autodeploy.diagnosis.evidence import Evidence, gather
from pytest_autodeploy.diagnosis.scene import Scene
from pytest_autodeploy.diagnosis.steps import tried

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.board import Arrays
    from pytest_autodeploy.diagnosis.case import Case
    from pytest_autodeploy.session.model_session import ModelSession

REPEATS = 2


def rerun(case: Case, problems: list[str]) -> Evidence:
    """What the outputs tell; the inferences of a run that failed are repeated on the board.

    Raises ReferenceFailed when no path that counts ran a second time.
    """
    counting = [path for path in case.agreement.nearest if path in case.by_side]
    if not counting:
        raise ReferenceFailed(
            f"{', '.join(case.agreement.nearest)} did not run a second time",
            hint="run it again; --autodeploy-explain off leaves this out",
        )

    def repeats() -> list[Arrays]:
        times = 0 if case.agreement.passed else REPEATS
        return repeated(case.session, case.chosen.inputs, times)

    return gather(
        case.model,
        case.chosen.outputs,
        case.by_side,
        case.tolerance,
        counting=counting,
        repeats=tried("repeating the inferences", problems, repeats) or (),
        exact_expected=_same_kernels(case.session),
        missing=case.pc.missing,
    )


def stage(case: Case, evidence: Evidence, until: float) -> Scene:
    """The inference whose operators are compared, with the sides of the PC that evidence names."""
    exact = evidence.exact_expected
    sides = (TFLM_PATH,) if exact else _nearest_first(evidence)
    return Scene(case.session, focus(case, exact=exact), case.pc, sides, exact, until)


def _same_kernels(session: ModelSession) -> bool:
    """Whether the board runs the very kernels that the PC has: it has their package."""
    if not session.kind.pc_kernels:
        return False
    try:
        return session.identity.engine_version == metadata.version("tflite-micro")
    except metadata.PackageNotFoundError:
        return False


def _nearest_first(evidence: Evidence) -> tuple[str, ...]:
    """The sides of the PC, TFLM before a path that is as near."""
    gaps = evidence.gaps
    return tuple(sorted(gaps, key=lambda side: (gaps[side].distance, side != TFLM_PATH)))
