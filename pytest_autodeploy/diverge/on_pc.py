"""The comparison of two sides of the PC: where LiteRT's kernel paths, or TFLM, part."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.diverge.findings import Findings
from pytest_autodeploy.diverge.layers import (
    Layer,
    apart_text,
    compare_layers,
    heaviest,
    parting,
)
from pytest_autodeploy.diverge.scene import Scene, adds_text, side_name


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
        where=_where(layers, side_name(left), side_name(right)),
        left=side_name(left),
        right=side_name(right),
        method="the PC alone",
    )


def _where(layers: Sequence[Layer], left: str, right: str) -> str:
    first, most = parting(layers), heaviest(layers)
    if first is None:
        return ""
    words = f"{left} and {right} part in operator {first.label}, which {adds_text(first)}"
    if most is None:
        return words
    adding = sum(1 for layer in layers if layer.adds)
    if adding > 1 and most.adds and most.adds <= most.least:
        by = apart_text(most.adds, most.unit)
        return f"{words}; {adding} of {len(layers)} operators round otherwise, by at most {by}"
    return words if most is first else f"{words}; {most.label} {adds_text(most)}, the most of all"
