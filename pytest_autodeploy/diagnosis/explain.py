"""Why the outputs of a board differ from the PC's, and in which operator that starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar

from pytest_autodeploy.base.errors import AutodeployError, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.diagnosis.attribution import advice, attribute
from pytest_autodeploy.diagnosis.board import CannotKeep, repeated
from pytest_autodeploy.diagnosis.by_tensors import against_itself, by_kept_tensors, on_pc
from pytest_autodeploy.diagnosis.cause import Cause
from pytest_autodeploy.diagnosis.chosen import Chosen, choose, refocused
from pytest_autodeploy.diagnosis.cuts import by_cut_models
from pytest_autodeploy.diagnosis.evidence import Evidence, gather
from pytest_autodeploy.diagnosis.explanation import Explanation
from pytest_autodeploy.diagnosis.not_finite import by_model
from pytest_autodeploy.diagnosis.pc import PcSides
from pytest_autodeploy.diagnosis.scene import Findings, Scene
from pytest_autodeploy.diagnosis.state import dropped_words, drops_state, first_departure

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.board import Arrays
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.reference.runner import Outputs
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession

T = TypeVar("T")

LIMIT_S = 300.0
"""What an explanation may take; a call to a board or a build that has begun may exceed it."""

REPEATS = 2


def explain(
    session: ModelSession,
    run: RunResult,
    agreement: Agreement,
    tolerance: Tolerance,
    *,
    limit_s: float = LIMIT_S,
) -> Explanation:
    """Find out why the outputs of a run on the session's board differ from the PC's.

    The inferences that failed are repeated on the board, and run through every kernel path and TFLM
    on the PC; then one of them is compared operator by operator. Of a run that passed only the
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
        counting = [path for path in agreement.nearest if path in by_side]
        if not counting:
            raise ReferenceFailed(
                f"{', '.join(agreement.nearest)} did not run a second time",
                hint="run it again; --autodeploy-explain off leaves this out",
            )
        problems: list[str] = []

        def repeats() -> list[Arrays]:
            times = 0 if agreement.passed else REPEATS
            return repeated(session, chosen.inputs, times)

        evidence = gather(
            session.model,
            chosen.outputs,
            by_side,
            tolerance,
            counting=counting,
            repeats=_tried("repeating the inferences", problems, repeats) or (),
            exact_expected=_same_kernels(session),
            missing=pc.missing,
        )
        dropped = _drops_state(session.model, chosen, pc, by_side, run, tolerance)
        chosen = _focused(session.model, chosen, by_side, run, tolerance, evidence)
        sides = (TFLM_PATH,) if evidence.exact_expected else _nearest_first(evidence)
        scene = Scene(session, chosen, pc, sides, evidence.exact_expected, until)
        if agreement.passed:
            return _compared(scene, problems)
        return _explained(scene, evidence, problems, agreement.distance, dropped=dropped)


def _carries(model: Model, run: RunResult) -> bool:
    return model.stateful and not run.reset_each


def _drops_state(
    model: Model,
    chosen: Chosen,
    pc: PcSides,
    by_side: Outputs,
    run: RunResult,
    tolerance: Tolerance,
) -> bool:
    """Whether the board is like TFLM with its state reset before each inference."""
    if not _carries(model, run) or TFLM_PATH not in by_side:
        return False
    fresh = pc.outputs(chosen.inputs, reset_each=True).get(TFLM_PATH)
    return fresh is not None and drops_state(
        model, chosen.outputs, by_side[TFLM_PATH], fresh, tolerance
    )


def _focused(
    model: Model,
    chosen: Chosen,
    by_side: Outputs,
    run: RunResult,
    tolerance: Tolerance,
    evidence: Evidence,
) -> Chosen:
    """With carried state, the operators of the first inference in which the board left TFLM."""
    if not _carries(model, run) or TFLM_PATH not in by_side:
        return chosen
    first = first_departure(
        model, chosen.outputs, by_side[TFLM_PATH], tolerance, exact=evidence.exact_expected
    )
    return chosen if first is None else refocused(chosen, first)


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


def _explained(
    scene: Scene, evidence: Evidence, problems: list[str], distance: float, *, dropped: bool
) -> Explanation:
    attribution = attribute(evidence)
    found = _tried(
        "comparing operator by operator",
        problems,
        lambda: _found(scene, evidence, attribution.cause),
    )
    found = found or Findings()
    cause = _concluded(attribution.cause, found)
    lines = attribution.lines
    if dropped and cause != "unstable" and not found.elsewhere:
        cause = "state"
        words, where = dropped_words(scene.model, len(scene.chosen.numbers))
        lines, found = (words, *lines), replace(found, where=where)
    return Explanation(
        cause=cause,
        lines=(*lines, scene.chosen.words),
        inference=scene.chosen.focus_number,
        found=found,
        advice=advice(cause, evidence, found, distance),
        problems=(*problems, *found.problems, *_silent(scene)),
    )


def _compared(scene: Scene, problems: list[str]) -> Explanation:
    """The operators of a run that passed; a board that cannot keep its tensors gives none."""
    what = "comparing operator by operator"
    found = _tried(what, problems, lambda: by_kept_tensors(scene)) or Findings()
    return Explanation(
        cause="agree",
        lines=(),
        inference=scene.chosen.focus_number,
        found=replace(found, operator=None, where=""),
        problems=(*problems, *found.problems, *_silent(scene)),
    )


def _silent(scene: Scene) -> list[str]:
    return [f"reading every tensor of {side}: {why}" for side, why in scene.pc.silent.items()]


def _found(scene: Scene, evidence: Evidence, cause: Cause) -> Findings:
    if cause == "unstable":
        return against_itself(scene)
    counting = min(evidence.counting, key=lambda path: evidence.gaps[path].distance)
    if cause == "pc" and evidence.agreeing:
        return on_pc(scene, evidence.agreeing[0], counting)
    if evidence.tflm and evidence.tflm.exact:
        return on_pc(scene, TFLM_PATH, counting)
    found = on_board(scene)
    if cause == "pc" and not found.board_is_wrong:
        return on_pc(scene, *evidence.apart)
    return found


def on_board(scene: Scene) -> Findings:
    """The board against the PC: by kept tensors, or where they cannot be kept by cut models."""
    try:
        return by_kept_tensors(scene)
    except CannotKeep as why:
        found = by_cut_models(scene)
        return replace(found, problems=(f"comparing every tensor: {why.what}", *found.problems))


def _concluded(cause: Cause, found: Findings) -> Cause:
    """The operators are the stronger evidence: what the outputs alone suggested may be wrong."""
    if found.board_is_wrong and cause != "unstable":
        return "board"
    if found.board_is_wrong is False and cause in ("board", "open"):
        return "runtime"
    return cause


def _tried(what: str, problems: list[str], step: Callable[[], T]) -> T | None:
    try:
        return step()
    except AutodeployError as error:
        problems.append(f"{what}: {one_line(error.what)}")
        return None
