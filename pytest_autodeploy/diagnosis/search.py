"""Where a difference starts: the board or the PC, compared operator by operator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.diagnosis.board import CannotKeep
from pytest_autodeploy.diagnosis.by_tensors import against_itself, by_kept_tensors, on_pc
from pytest_autodeploy.diagnosis.cuts import by_cut_models

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.cause import Cause
    from pytest_autodeploy.diagnosis.evidence import Evidence
    from pytest_autodeploy.diagnosis.scene import Findings, Scene


def search(scene: Scene, evidence: Evidence, cause: Cause) -> Findings:
    """The two sides that the outputs point at, compared operator by operator."""
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


def conclude(cause: Cause, found: Findings) -> Cause:
    """The operators are the stronger evidence: what the outputs alone suggested may be wrong."""
    if found.board_is_wrong and cause != "unstable":
        return "board"
    if found.board_is_wrong is False and cause in ("board", "open"):
        return "runtime"
    return cause
