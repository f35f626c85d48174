"""Two sides compared operator by operator, and where they part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.limits.tolerance import DEFAULT_LSB, DEFAULT_PEAK_RTOL
from pytest_autodeploy.reference import metrics
from pytest_autodeploy.reference.agreement import Unit, distance_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Operator, Tensor

    Values = Mapping[int, NDArray[Any]]

FIRST_ELEMENTS = 3
"""Elements that differ of which a report shows both sides."""


@dataclass(frozen=True)
class Element:
    """An element that differs: its index, and the stored value on each side."""

    index: tuple[int, ...]
    left: float
    right: float


@dataclass(frozen=True)
class Layer:
    """One operator's output on two sides, ``left`` and ``right``.

    ``apart``: the largest distance between the sides, None when a side could not be read.
    ``adds``: the distance of the left output from what the right side computes from the left side's
    own inputs of that operator, so what the operator itself adds; None when that is not known.
    ``allowed``: what it may add without being wrong; ``least``: what two right kernels may differ
    by at the least, a step or 1e-4 of the peak. All in ``unit``: steps of integers, real values of
    floats. ``elements``: in how many of them is ``adds``, else ``apart``. ``metrics`` are those of
    the real values of both sides.
    """

    position: int
    operator: str
    tensor: int
    tensor_name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int | None
    apart: float | None
    adds: float | None
    allowed: float
    least: float
    unit: Unit
    elements: int
    of_elements: int
    first: tuple[Element, ...]
    metrics: metrics.ErrorMetrics | None

    @property
    def wrong(self) -> bool:
        """Whether the operator adds more than it may."""
        return self.adds is not None and self.adds > self.allowed

    @property
    def weight(self) -> float:
        """What the operator adds, counted in what two right kernels differ by at the least."""
        return (self.adds or 0.0) / (self.least or 1.0)

    @property
    def label(self) -> str:
        """Such as ``7 CONV_2D``."""
        return f"{self.position} {self.operator}"

    @property
    def output_text(self) -> str:
        """Tensor, type, shape and quantisation of the output."""
        parts = [f"{self.dtype} {list(self.shape)}"]
        if self.scale is not None:
            parts.append(f"scale {self.scale:.6g}, zero point {self.zero_point}")
        return f"tensor {self.tensor} {one_line(self.tensor_name, 60)!r}, {', '.join(parts)}"


def main_operators(model: Model) -> list[Operator]:
    """The operators of the main subgraph; their positions are those of a report."""
    return [operator for operator in model.operators if operator.subgraph == 0]


def compare_layers(
    model: Model,
    left: Values,
    right: Values,
    alone: Mapping[str, Values],
    *,
    exact: bool = False,
) -> tuple[Layer, ...]:
    """Hold the outputs of each operator on the left side against the right one's.

    Values are by tensor index, of shape (1, *tensor shape); inputs of the model count as equal.
    ``alone``: per side of the PC, what each operator gives on the left side's own inputs; of
    several the nearest counts. ``exact``: both sides run the same kernels, so nothing may be added;
    else what the PC's sides differ by, and at least a step or 1e-4 of the peak. Operators of which
    nothing is known are left out.
    """
    sides = _Sides(left, right, alone, exact)
    equal = {tensor.index for tensor in model.inputs}
    layers = []
    for position, operator in enumerate(main_operators(model)):
        same_inputs = _all_equal(operator, equal)
        found = [
            _layer(position, operator, tensor, sides, same_inputs)
            for tensor in operator.outputs
            if sides.know(tensor.index)
        ]
        equal |= {layer.tensor for layer in found if layer.apart == 0}
        if found:
            layers.append(max(found, key=lambda layer: (layer.weight, layer.apart or 0)))
    return tuple(layers)


@dataclass(frozen=True)
class _Sides:
    left: Values
    right: Values
    alone: Mapping[str, Values]
    exact: bool

    def know(self, index: int) -> bool:
        return index in self.left and bool(index in self.right or self.of_operator(index))

    def of_operator(self, index: int) -> list[NDArray[Any]]:
        return [values[index] for values in self.alone.values() if index in values]


def _all_equal(operator: Operator, equal: set[int]) -> bool:
    """Whether both sides gave the operator the same; what it keeps itself is its own doing."""
    return all(
        tensor is None
        or tensor.constant
        or tensor.variable
        or tensor.dtype == "resource"
        or tensor.index in equal
        for tensor in operator.inputs
    )


def _layer(
    position: int, operator: Operator, tensor: Tensor, sides: _Sides, same_inputs: bool
) -> Layer:
    value, whole = sides.left[tensor.index], sides.right.get(tensor.index)
    computed = sides.of_operator(tensor.index)
    if not computed and same_inputs and whole is not None:
        computed = [whole]
    nearest = min(computed, key=lambda side: farthest(value, side)) if computed else None
    shown = nearest if nearest is not None else whole
    assert shown is not None
    apart = metrics.distances(value, shown)
    return Layer(
        position=position,
        operator=operator.name,
        tensor=tensor.index,
        tensor_name=tensor.name,
        dtype=tensor.dtype,
        shape=tensor.shape,
        scale=tensor.scale,
        zero_point=tensor.zero_point,
        apart=None if whole is None else farthest(value, whole),
        adds=None if nearest is None else float(apart.max(initial=0)),
        allowed=0.0 if sides.exact else may_differ(tensor, computed or [shown]),
        least=_least(tensor, shown),
        unit="real" if value.dtype.kind == "f" else "steps",
        elements=int(np.count_nonzero(apart)),
        of_elements=value.size,
        first=_first_elements(value, shown, apart),
        metrics=None if whole is None else _metrics(tensor, value, whole),
    )


def _metrics(
    tensor: Tensor, value: NDArray[Any], whole: NDArray[Any]
) -> metrics.ErrorMetrics | None:
    if not value.size:
        return None
    left, right = (metrics.real_values(tensor, side) for side in (value, whole))
    return metrics.error_metrics(left, right)


def farthest(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The largest distance between two tensors."""
    return float(metrics.distances(one, other).max(initial=0))


def may_differ(tensor: Tensor, sides: Sequence[NDArray[Any]]) -> float:
    """What two correct kernels may differ by: as far as the PC's are apart, and the least."""
    spread = max(farthest(one, other) for one in sides for other in sides)
    return max(_least(tensor, sides[0]), spread if math.isfinite(spread) else 0.0)


def _least(tensor: Tensor, value: NDArray[Any]) -> float:
    if value.dtype.kind != "f":
        return DEFAULT_LSB if tensor.quantization else 0.0
    with np.errstate(invalid="ignore"):  # a signalling NaN
        magnitudes = np.abs(value.astype(np.float64))
    peak = float(magnitudes.max(initial=0, where=np.isfinite(magnitudes)))
    return DEFAULT_PEAK_RTOL[value.dtype.name] * peak


def _first_elements(
    left: NDArray[Any], right: NDArray[Any], apart: NDArray[Any]
) -> tuple[Element, ...]:
    found = np.argwhere(apart > 0)[:FIRST_ELEMENTS]
    return tuple(
        Element(
            tuple(int(part) for part in at[1:]), left[tuple(at)].item(), right[tuple(at)].item()
        )
        for at in found
    )


def culprit(layers: Sequence[Layer]) -> Layer | None:
    """The first operator that adds more than it may."""
    return next((layer for layer in layers if layer.wrong), None)


def suspect(layers: Sequence[Layer]) -> Layer | None:
    """The first operator that is off although all before it are right.

    It cannot be run alone, as it keeps a state or what it reads was not the same: the last resort.
    """
    for layer in layers:
        off = layer.apart is not None and layer.apart > max(layer.allowed, layer.least)
        if off or layer.wrong:
            return layer if off and layer.adds is None else None
    return None


def parting(layers: Sequence[Layer]) -> Layer | None:
    """The first operator whose output differs at all."""
    return next((layer for layer in layers if layer.adds or layer.apart), None)


def heaviest(layers: Sequence[Layer]) -> Layer | None:
    """The operator that adds most by its weight; None when none adds anything."""
    adding = [layer for layer in layers if layer.adds]
    return max(adding, key=lambda layer: layer.weight) if adding else None


def apart_text(distance: float, unit: Unit) -> str:
    """A distance in words; an infinite one is a NaN or an infinity on one side only."""
    if math.isinf(distance):
        return "a NaN or an infinity on one side only"
    return distance_text(distance, unit)
