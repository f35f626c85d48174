"""Operators that are wrong in ways that no probe of the sensitivity uses, and what happens then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from pytest_autodeploy.diagnosis.sensitivity.sensitivity import OperatorSensitivity
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.model.graph import Model, Operator
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.rewrite import pack
from pytest_autodeploy.reference.compare import compare
from pytest_autodeploy.sim.pieces import main_operators

Array = np.ndarray[Any, Any]
Arrays = Sequence[Array]
Run = Callable[[Model, Arrays], tuple[Array, ...]]
"""What TFLM gives for a model and its inputs, arrays (n, *tensor shape) each."""

WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def has_weights(operator: Operator) -> bool:
    """Whether an operator multiplies by int8 constants of its own."""
    weights = operator.inputs[1] if len(operator.inputs) > 1 else None
    constant = weights is not None and weights.constant and weights.dtype == "int8"
    return operator.name in WEIGHTED and constant


def with_wrong_weight(model: Model, position: int, seed: int) -> Model:
    """The model with bit 6 of one weight of an operator flipped: 64 steps off."""

    def flip(values: Array) -> None:
        values[np.random.default_rng([seed, position]).integers(values.size)] ^= 0x40

    return _with_weights(model, position, flip)


def with_weights_from_elsewhere(model: Model, position: int) -> Model:
    """The model with the weights of an operator read from one place too far."""

    def shift(values: Array) -> None:
        values[:] = np.roll(values, 1)

    return _with_weights(model, position, shift)


def _with_weights(model: Model, position: int, change: Callable[[Array], None]) -> Model:
    weights = main_operators(model)[position].inputs[1]
    assert weights is not None
    file = schema.ModelT.InitFromPackedBuf(model.content)
    buffer = file.buffers[file.subgraphs[0].tensors[weights.index].buffer]
    values = np.array(buffer.data, np.uint8)
    change(values)
    buffer.data = values
    return replace(parse(model.path, pack(file, model.content)), name=model.name)


def outputs_with_zero_point(
    model: Model, position: int, steps: int, inputs: Arrays, run: Run
) -> tuple[Array, ...] | None:
    """What TFLM gives when an operator has another zero point than its readers.

    The first operators run with it as a model of their own, the others on what they made. None
    where a zero point cannot be so many steps off, or the operator does not care for it.
    """
    operator = main_operators(model)[position]
    points = [tensor.zero_point for tensor in operator.outputs]
    if any(point is None or not -128 <= point + steps <= 127 for point in points):
        return None
    file = schema.ModelT.InitFromPackedBuf(model.content)
    for tensor in operator.outputs:
        quantization = file.subgraphs[0].tensors[tensor.index].quantization
        quantization.zeroPoint = [int(quantization.zeroPoint[0]) + steps]
    moved = replace(parse(model.path, pack(file, model.content)), name=model.name)
    right, wrong = (run(cut_model(each, 0, position), inputs) for each in (model, moved))
    if all(np.array_equal(a, b) for a, b in zip(right, wrong, strict=True)):
        return None
    head = cut_model(model, 0, position)
    values = dict(zip((tensor.index for tensor in model.inputs), inputs, strict=True))
    values |= dict(zip((tensor.index for tensor in head.outputs), wrong, strict=True))
    if position + 1 < len(main_operators(model)):
        tail = cut_model(model, position + 1)
        results = run(tail, [values[tensor.index] for tensor in tail.inputs])
        values |= dict(zip((tensor.index for tensor in tail.outputs), results, strict=True))
    return tuple(values[tensor.index] for tensor in model.outputs)


@dataclass
class Confusion:
    """How often what was predicted of a kind of fault was what happened."""

    noticed: int = 0
    missed: int = 0
    false_alarm: int = 0
    silent: int = 0

    def add(self, *, predicted: bool, happened: bool) -> None:
        """Count one fault on one set of inputs."""
        if predicted:
            self.noticed += happened
            self.false_alarm += not happened
        else:
            self.missed += happened
            self.silent += not happened

    @property
    def count(self) -> int:
        """All that was counted."""
        return self.noticed + self.missed + self.false_alarm + self.silent

    @property
    def right(self) -> float:
        """The share of right predictions."""
        return (self.noticed + self.silent) / max(self.count, 1)


def is_predicted(found: OperatorSensitivity, change: str, inferences: Sequence[int]) -> bool:
    """Whether some of the inferences notice a change in all its variants."""
    return all(set(by) & set(inferences) for by in found.changes[change].by)


def has_happened(
    model: Model, outputs: Arrays, by_path: dict[str, Arrays], inferences: Sequence[int]
) -> bool:
    """Whether a test on some of the inferences fails."""

    def some(arrays: Arrays) -> list[Array]:
        return [array[list(inferences)] for array in arrays]

    paths = {path: some(each) for path, each in by_path.items()}
    return not compare(model, some(outputs), paths, Tolerance()).passed
