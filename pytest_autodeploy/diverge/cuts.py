"""The comparison by bisection: the board runs the first operators as models of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.diverge.bisect import first_wrong
from pytest_autodeploy.diverge.board import Prefixes
from pytest_autodeploy.diverge.findings import Findings
from pytest_autodeploy.diverge.kept import added_up, starts_text
from pytest_autodeploy.diverge.layers import main_operators, may_differ
from pytest_autodeploy.diverge.scene import Scene, side_name
from pytest_autodeploy.reference import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = Mapping[int, NDArray[Any]]


def by_cut_models(scene: Scene) -> Findings:
    """The operator that makes a wrong value of right ones, found in ceil(log2(operators)) runs.

    The found one is confirmed on the PC: it is handed what the board had before it. When the time
    is over, the operators between which it is are told. Raises BoardError, ReferenceFailed and
    ModelError.
    """
    prefixes = Prefixes(scene.session, scene.chosen.focus)
    on_pc = {side: scene.pc.tensors(side, scene.chosen.focus) for side in scene.sides}
    seen: dict[int, NDArray[Any]] = {}

    def differs(position: int) -> bool | None:
        values = None if scene.over else prefixes.after(position)
        if values is None:
            return None
        seen.update(values)
        return any(_is_off(scene, index, value, on_pc) for index, value in values.items())

    after, at = first_wrong(len(main_operators(scene.model)), differs)
    whole = zip(scene.model.outputs, scene.chosen.focus_outputs, strict=True)
    seen |= {tensor.index: value for tensor, value in whole}
    found = Findings(
        layers=scene.compared(seen),
        right=side_name(scene.sides[0]),
        method="cut models",
        board_runs=prefixes.runs,
        problems=_problems(prefixes, scene),
    )
    return _concluded(found, after, at)


def _problems(prefixes: Prefixes, scene: Scene) -> tuple[str, ...]:
    refusals = [f"running a part of the model: {why}" for why in prefixes.refusals[:1]]
    late = [f"bisection: the time was over after {prefixes.runs} runs"] if scene.over else []
    return (*refusals, *late)


def _concluded(found: Findings, after: int, at: int) -> Findings:
    layer = next((layer for layer in found.layers if layer.position == at), None)
    if layer is not None and layer.wrong:
        return replace(found, operator=layer, where=starts_text(layer), board_is_wrong=True)
    if after < at - 1:
        where = f"it starts in one of the operators {after + 1} to {at}"
        return replace(found, where=where, board_is_wrong=True)
    return added_up(found, complete=False)


def _is_off(scene: Scene, index: int, value: NDArray[Any], on_pc: Mapping[str, Values]) -> bool:
    """Whether a tensor of the board is farther from the PC's than right kernels may be."""
    sides = [values[index] for values in on_pc.values() if index in values]
    if not sides:
        return False
    apart = min(float(np.max(metrics.distances(value, side), initial=0)) for side in sides)
    tensor = next(t for t in scene.model.tensors if t.subgraph == 0 and t.index == index)
    return apart > (0.0 if scene.exact else may_differ(tensor, sides))
