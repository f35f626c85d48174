"""The comparison by bisection: the board runs the first operators as models of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.diagnosis.board import Prefixes
from pytest_autodeploy.diagnosis.by_tensors import added_up, starts_text
from pytest_autodeploy.diagnosis.layers import farthest, main_operators, may_differ
from pytest_autodeploy.diagnosis.scene import Findings, Scene, side_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = Mapping[int, NDArray[Any]]

Differs = Callable[[int], bool | None]
"""Whether a side differs after the operator at a position; None where that cannot be known."""


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
    return _conclude(found, after, at)


def _problems(prefixes: Prefixes, scene: Scene) -> tuple[str, ...]:
    refusals = [f"running a part of the model: {why}" for why in prefixes.refusals[:1]]
    late = [f"bisection: the time was over after {prefixes.runs} runs"] if scene.over else []
    return (*refusals, *late)


def _conclude(found: Findings, after: int, at: int) -> Findings:
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
    apart = min(farthest(value, side) for side in sides)
    tensor = next(t for t in scene.model.tensors if t.subgraph == 0 and t.index == index)
    return apart > (0.0 if scene.exact else may_differ(tensor, sides))


def first_wrong(count: int, differs: Differs) -> tuple[int, int]:
    """The operators ``(after, at)``: after the one all was right, after the other it was not.

    ``after`` is -1 for the inputs of the model; what differs after the last of ``count`` operators
    is known. At most ceil(log2(count)) positions are looked at. That what is wrong once may be
    right again later (a clipped value) does no harm: the two operators always enclose the place
    where right values became wrong. They are neighbours unless no position between them can be
    known.
    """
    low, high = -1, count - 1
    unknown: set[int] = set()
    while position := _middle(low, high, unknown):
        wrong = differs(position[0])
        if wrong is None:
            unknown.add(position[0])
        elif wrong:
            high = position[0]
        else:
            low = position[0]
    return low, high


def _middle(low: int, high: int, unknown: set[int]) -> tuple[int, ...]:
    """The position between the two that is nearest to their middle, as one or no element."""
    middle = (low + high) // 2
    between = [position for position in range(low + 1, high) if position not in unknown]
    return tuple(sorted(between, key=lambda position: abs(position - middle))[:1])
