"""Comparisons tensor by tensor: a board with the PC or with itself, or two sides of the PC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.diagnosis.board import Kept, kept_tensors
from pytest_autodeploy.diagnosis.layers import (
    Layer,
    apart_text,
    compare_layers,
    culprit,
    heaviest,
    parting,
    suspect,
)
from pytest_autodeploy.diagnosis.scene import Findings, Scene, adds_text, side_name
from pytest_autodeploy.reference import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray


def by_kept_tensors(scene: Scene) -> Findings:
    """Every operator's output on the board, and what of the difference the operator itself adds.

    Raises CannotKeep, BoardError, ReferenceFailed and ModelError.
    """
    kept = kept_tensors(scene.session, scene.chosen.focus, scene.until)
    layers = scene.compared(kept.values)
    found = Findings(layers=layers, right=side_name(scene.sides[0]), method="kept tensors")
    if not kept.complete:
        found = replace(found, problems=("reading the last operators' outputs: no time was left",))
    return (
        _wrong_input(scene, kept, found)
        or _wrong_operator(found)
        or _other_memory(scene, kept, found)
        or _wrong_output(scene, kept, found)
        or added_up(found, complete=kept.complete)
    )


def against_itself(scene: Scene) -> Findings:
    """Two runs on the board with kept tensors, and the first operator that gave another output."""
    one, other = (
        kept_tensors(scene.session, scene.chosen.focus, scene.until) for _ in ("run", "repeat")
    )
    layers = compare_layers(scene.model, one.values, other.values, {}, exact=True)
    found = Findings(layers=layers, right="repeat", method="kept tensors", board_is_wrong=True)
    if layer := culprit(layers):
        where = f"operator {layer.label} gave another output for the same input: {adds_text(layer)}"
        return replace(found, operator=layer, where=where)
    if not _same(one.outputs, other.outputs):
        where = "after the last operator: every operator gave the same twice, what was read did not"
        return replace(found, elsewhere="output", where=where)
    where = "in no operator: with each tensor in memory of its own the board gave the same twice"
    return replace(found, elsewhere="memory", where=where)


def on_pc(scene: Scene, left: str, right: str) -> Findings:
    """The operator where two sides part, and the one that adds most.

    Raises ReferenceFailed and ModelError.
    """
    values = scene.pc.tensors(left, scene.chosen.focus)
    other = scene.pc.tensors(right, scene.chosen.focus)
    alone = scene.pc.alone([right], {**scene.inputs, **values})
    layers = compare_layers(scene.model, values, other, alone)
    return Findings(
        layers=layers,
        operator=parting(layers),
        where=_parting_text(layers, side_name(left), side_name(right)),
        left=side_name(left),
        right=side_name(right),
        method="the PC alone",
    )


def _parting_text(layers: Sequence[Layer], left: str, right: str) -> str:
    first, most = parting(layers), heaviest(layers)
    if first is None:
        return ""
    text = f"{left} and {right} part in operator {first.label}, which {adds_text(first)}"
    if most is None:
        return text
    adding = sum(1 for layer in layers if layer.adds)
    if adding > 1 and most.adds and most.adds <= most.least:
        by = apart_text(most.adds, most.unit)
        return f"{text}; {adding} of {len(layers)} operators round otherwise, by at most {by}"
    return text if most is first else f"{text}; {most.label} {adds_text(most)}, the most of all"


def _wrong_input(scene: Scene, kept: Kept, found: Findings) -> Findings | None:
    for tensor in scene.model.inputs:
        value = kept.values.get(tensor.index)
        if value is not None and not _same([value], [scene.inputs[tensor.index]]):
            return replace(
                found,
                where=f"before the first operator: the input {tensor.name!r} is not what was sent",
                board_is_wrong=True,
                elsewhere="input",
            )
    return None


def _wrong_operator(found: Findings) -> Findings | None:
    layer = culprit(found.layers)
    if layer is None and (layer := suspect(found.layers)):
        where = (
            f"it starts in operator {layer.label}: it is {apart_text(layer.apart or 0, layer.unit)}"
            " off, and all before it is right"
        )
        return replace(found, operator=layer, where=where, board_is_wrong=True)
    if layer is None:
        return None
    return replace(found, operator=layer, where=starts_text(layer), board_is_wrong=True)


def starts_text(layer: Layer) -> str:
    """Where a wrong operator makes the difference start."""
    return f"it starts in operator {layer.label}, which {adds_text(layer)}"


def _other_memory(scene: Scene, kept: Kept, found: Findings) -> Findings | None:
    if _same([output[-1:] for output in kept.outputs], scene.chosen.focus_outputs):
        return None
    where = "in no operator: with each tensor in memory of its own the board's output is another"
    return replace(found, where=where, board_is_wrong=True, elsewhere="memory")


def _wrong_output(scene: Scene, kept: Kept, found: Findings) -> Findings | None:
    for tensor, output in zip(scene.model.outputs, kept.outputs, strict=True):
        value = kept.values.get(tensor.index)
        if value is not None and not _same([value], [output[-1:]]):
            where = f"after the last operator: the output {tensor.name!r} was read as another"
            return replace(found, where=where, board_is_wrong=True, elsewhere="output")
    return None


def added_up(found: Findings, *, complete: bool) -> Findings:
    """No operator is wrong: the one that adds most, when there is one."""
    layer = heaviest(found.layers)
    if layer is None:
        return found
    where = (
        f"in no operator alone: {layer.label} {adds_text(layer)}, the most of all, which right "
        "kernels may differ by; such differences add up"
    )
    clear = complete and all(each.adds is not None for each in found.layers)
    return replace(found, operator=layer, where=where, board_is_wrong=False if clear else None)


def _same(one: Sequence[NDArray[Any]], other: Sequence[NDArray[Any]]) -> bool:
    return not any(metrics.distances(a, b).any() for a, b in zip(one, other, strict=True))
