"""From the evidence and the operators to an explanation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.attribution import advice, attribute
from pytest_autodeploy.diagnosis.by_tensors import by_kept_tensors
from pytest_autodeploy.diagnosis.explanation import Explanation
from pytest_autodeploy.diagnosis.scene import Findings, Scene
from pytest_autodeploy.diagnosis.search import conclude, search
from pytest_autodeploy.diagnosis.state import dropped_text
from pytest_autodeploy.diagnosis.steps import tried

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.evidence import Evidence


def explained(
    scene: Scene, evidence: Evidence, problems: list[str], distance: float, *, dropped: bool
) -> Explanation:
    """Why the outputs of a run that failed differ; ``dropped``: the board drops its state."""
    attribution = attribute(evidence)
    found = tried(
        "comparing operator by operator",
        problems,
        lambda: search(scene, evidence, attribution.cause),
    )
    found = found or Findings()
    cause = conclude(attribution.cause, found)
    lines = attribution.lines
    if dropped and cause != "unstable" and not found.elsewhere:
        cause = "state"
        text, where = dropped_text(scene.model, len(scene.chosen.numbers))
        lines, found = (text, *lines), replace(found, where=where)
    return Explanation(
        cause=cause,
        lines=(*lines, scene.chosen.text),
        inference=scene.chosen.focus_number,
        found=found,
        advice=advice(cause, evidence, found, distance),
        problems=(*problems, *found.problems, *_silent(scene)),
    )


def compared(scene: Scene, problems: list[str]) -> Explanation:
    """The operators of a run that passed; a board that cannot keep its tensors gives none."""
    what = "comparing operator by operator"
    found = tried(what, problems, lambda: by_kept_tensors(scene)) or Findings()
    return Explanation(
        cause="agree",
        lines=(),
        inference=scene.chosen.focus_number,
        found=replace(found, operator=None, where=""),
        problems=(*problems, *found.problems, *_silent(scene)),
    )


def _silent(scene: Scene) -> list[str]:
    return [f"reading every tensor of {side}: {why}" for side, why in scene.pc.silent.items()]
