"""The arena of a library: what was measured, and what another core or TFLM may need beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_autodeploy.catalog.boards import BoardSpec
from pytest_autodeploy.deliver.characterization import ALIGNMENT, Characterization
from pytest_autodeploy.model.graph import Model, Operator, Tensor

OBJECTS_BYTES = 512
"""How much larger TFLM's own objects may be in another version."""

SUM_BYTES = 4
ROWS = 4
CHANNELS_A_BLOCK = 124
"""Of CMSIS-NN's kernels: a 32-bit sum per output channel, four rows of a convolution's patches at a
time, and blocks of so many channels of a depthwise one (``arm_*_get_buffer_size``)."""

_DEPTHWISE = "DEPTHWISE_CONV_2D"
_CONVOLUTIONS = ("CONV_2D", "TRANSPOSE_CONV", _DEPTHWISE)


@dataclass(frozen=True)
class Arena:
    """Bytes of a library's tensor arena; ``margin_bytes`` of them were not measured."""

    bytes: int
    margin_bytes: int


def arena_for(
    characterization: Characterization, model: Model, board: BoardSpec, engine_version: str | None
) -> Arena:
    """The arena of the model on a board whose TFLM is ``engine_version``, None when unknown.

    What was measured holds for the same core and the same TFLM. For others there is a margin: the
    buffers of the kernels that differ between cores, and some bytes for TFLM's own objects.
    """
    place = characterization.place
    same = place.core == board.core and place.engine_version == engine_version
    measured = same and place.source != "modelled"
    margin = 0 if measured else kernel_buffer_bytes(model) + OBJECTS_BYTES
    whole = _aligned(characterization.arena_bytes + margin)
    return Arena(whole, whole - _aligned(characterization.arena_bytes) if margin else 0)


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
    return ROWS * _aligned(height * width * depth * (2 if first.dtype == "int16" else 1))


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
