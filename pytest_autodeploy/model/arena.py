"""The arena of a model, from its file alone: the least, and one that is likely to be enough."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from pytest_autodeploy.model.graph import Model, Operator, Tensor

SUM_BYTES = 4
ROWS = 4
CHANNELS_A_BLOCK = 124
"""Of CMSIS-NN's kernels: a 32-bit sum per output channel, four rows of a convolution's patches at a
time, and blocks of so many channels of a depthwise one (``arm_*_get_buffer_size``)."""

_DEPTHWISE = "DEPTHWISE_CONV_2D"
_CONVOLUTIONS = ("CONV_2D", "TRANSPOSE_CONV", _DEPTHWISE)

OBJECTS_BYTES, TENSOR_BYTES, OPERATOR_BYTES, CHANNEL_BYTES = 1024, 16, 128, 8
"""Of TFLM on a 32-bit core, rounded up: its own objects, its record of a tensor, its record of an
operator with the kernel's data, and the multiplier and shift of an output channel."""

_ALIGNMENT = 16


def least_arena_bytes(model: Model) -> int:
    """Bytes of the tensors of the main subgraph that are alive at once, where they are the most.

    An input lives from the start, any other tensor from the operator that makes it, to the last
    operator that reads it; outputs and variables live to the end. No arena can be smaller; TFLM
    adds its own structures, the kernels' buffers and the other subgraphs, which no file tells.
    Dimensions that are not known count as 1.
    """
    operators = [operator for operator in model.operators if operator.subgraph == 0]
    end = max(len(operators) - 1, 0)
    alive = {tensor.index: (0, 0, tensor.bytes) for tensor in model.inputs}
    for step, operator in enumerate(operators):
        for tensor in (*filter(None, operator.inputs), *operator.outputs):
            if not tensor.constant:
                first = alive.get(tensor.index, (0 if tensor.variable else step,))[0]
                alive[tensor.index] = (first, end if tensor.variable else step, tensor.bytes)
    for tensor in model.outputs:
        if tensor.index in alive:
            alive[tensor.index] = (alive[tensor.index][0], end, tensor.bytes)
    changes = [0] * (end + 2)
    for first, last, size in alive.values():
        changes[first] += size
        changes[last + 1] -= size
    return max(accumulate(changes))


def likely_arena_bytes(model: Model) -> int:
    """An arena that is likely to be enough, by which the memory for it is chosen.

    The tensors that are alive at once, the buffers of the kernels of any core, and TFLM's records.
    For the MLPerf Tiny models that is 1.1 to 9 times what TFLM takes.
    """
    tensors = sum(tensor.subgraph == 0 for tensor in model.tensors)
    layers = [(each, weights) for each in model.operators for weights in _weights(each)]
    channels = sum(_channels(each, weights) for each, weights in layers)
    records = (
        OBJECTS_BYTES
        + TENSOR_BYTES * tensors
        + OPERATOR_BYTES * len(model.operators)
        + CHANNEL_BYTES * channels
    )
    return _align(least_arena_bytes(model) + kernel_buffer_bytes(model) + records)


def kernel_buffer_bytes(model: Model) -> int:
    """The most that kernels of any core keep in the arena for quantised layers.

    Sums of the weights of all layers, and the patches of the largest convolution.
    """
    layers = [(each, weights) for each in model.operators for weights in _weights(each)]
    sums = sum(SUM_BYTES * _channels(each, weights) for each, weights in layers)
    return sums + max((_patch_bytes(each, weights) for each, weights in layers), default=0)


def _weights(operator: Operator) -> Iterator[Tensor]:
    for tensor in operator.inputs:
        if tensor is not None and tensor.constant and tensor.quantization and len(tensor.shape) > 1:
            yield tensor


def _channels(operator: Operator, weights: Tensor) -> int:
    return weights.shape[-1 if operator.name == _DEPTHWISE else 0]


def _patch_bytes(operator: Operator, weights: Tensor) -> int:
    """Of four patches, whose elements are those of the input."""
    first = operator.inputs[0]
    if operator.name not in _CONVOLUTIONS or first is None or len(weights.shape) != 4:
        return 0
    height, width, depth = weights.shape[1:]
    if operator.name == _DEPTHWISE:
        depth = max(depth, CHANNELS_A_BLOCK)
    return ROWS * _align(height * width * depth * (2 if first.dtype == "int16" else 1))


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
