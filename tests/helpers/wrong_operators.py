"""Models with one operator that is wrong in a way that no probe of the sensitivity uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.model.graph import Model, Operator
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.rewrite import packed
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.reference.runner import Reference

Array = np.ndarray[Any, Any]
WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def main_operators(model: Model) -> list[Operator]:
    """The operators of the main subgraph."""
    return [operator for operator in model.operators if operator.subgraph == 0]


def has_weights(operator: Operator) -> bool:
    """Whether an operator multiplies by int8 constants of its own."""
    weights = operator.inputs[1] if len(operator.inputs) > 1 else None
    constant = weights is not None and weights.constant and weights.dtype == "int8"
    return operator.name in WEIGHTED and constant


def with_wrong_weight(model: Model, position: int, seed: int) -> Model:
    """The model with bit 6 of one weight of an operator flipped: 64 steps off."""
    weights = main_operators(model)[position].inputs[1]
    assert weights is not None
    at = int(np.random.default_rng([seed, position]).integers(weights.elements))

    def flip(values: Array) -> None:
        values[at] ^= 0x40

    return _with_weights(model, weights.index, flip)


def with_weights_from_elsewhere(model: Model, position: int) -> Model:
    """The model with the weights of an operator read from one place too far."""
    weights = main_operators(model)[position].inputs[1]
    assert weights is not None

    def shift(values: Array) -> None:
        values[:] = np.roll(values, 1)

    return _with_weights(model, weights.index, shift)


def _with_weights(model: Model, tensor: int, change: Any) -> Model:
    file = schema.ModelT.InitFromPackedBuf(model.content)
    buffer = file.buffers[file.subgraphs[0].tensors[tensor].buffer]
    values = np.array(buffer.data, np.uint8)
    change(values)
    buffer.data = values
    return replace(parse(model.path, packed(file, model.content)), name=model.name)


def outputs_of(model: Model, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """What TFLM on this PC gives. Raises ReferenceFailed when it refuses the model."""
    with Reference(model, paths=("tflm",)) as reference:
        return reference.run(Inputs(tuple(inputs), "given"))["tflm"]


def outputs_with_zero_point(
    model: Model, position: int, steps: int, inputs: Sequence[Array]
) -> tuple[Array, ...] | None:
    """What TFLM gives when an operator has another zero point than its readers.

    The first operators run with it as a model of their own, the others on what they made. None
    where the zero point cannot be so many steps off, or is no property of the operator.
    """
    operator = main_operators(model)[position]
    indices = {tensor.index for tensor in operator.outputs}
    ends = [tensor.zero_point for tensor in operator.outputs]
    if any(end is None or not -128 <= end + steps <= 127 for end in ends):
        return None
    file = schema.ModelT.InitFromPackedBuf(model.content)
    for index in indices:
        quantization = file.subgraphs[0].tensors[index].quantization
        quantization.zeroPoint = [int(quantization.zeroPoint[0]) + steps]
    moved = replace(parse(model.path, packed(file, model.content)), name=model.name)
    head = cut_model(moved, 0, position)
    made = dict(zip((t.index for t in head.outputs), outputs_of(head, inputs), strict=True))
    values = dict(zip((t.index for t in model.inputs), inputs, strict=True)) | made
    if position + 1 < len(main_operators(model)):
        tail = cut_model(model, position + 1)
        results = outputs_of(tail, [values[t.index] for t in tail.inputs])
        values |= dict(zip((t.index for t in tail.outputs), results, strict=True))
    return tuple(values[tensor.index] for tensor in model.outputs)
