"""Multiply-accumulates (MACs) per operator, from shapes alone.

One MAC is one product, of a value with a weight or of two matrix elements, added to a sum.
Positions in the padding count: kernels differ in whether they skip them, and published MAC counts
include them. Element-wise, pooling, reducing, normalising, resizing and data-moving operators have
none by convention, as in the table of the AutoDeploy application note. An operator that is in no
list here is unknown, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pytest_autodeploy.model.graph import Option, Tensor
from pytest_autodeploy.model.operators import BUILTINS

Inputs = Sequence[Tensor | None]
Outputs = Sequence[Tensor]
Options = Mapping[str, Option]

CALLERS = frozenset(("CALL", "CALL_ONCE", "IF", "WHILE"))
"""Operators whose work is that of the subgraphs that they call; see execution.py."""


def macs(name: str, inputs: Inputs, outputs: Outputs, options: Options) -> int | None:
    """MACs of one execution of a builtin operator; None when unknown.

    Unknown are operators without a formula, and operands whose shapes are dynamic or do not fit
    the formula.
    """
    if name in _WITHOUT:
        return 0
    formula = _FORMULAS.get(name)
    if formula is None or any(tensor.dynamic for tensor in (*inputs, *outputs) if tensor):
        return None
    try:
        return formula(inputs, outputs, options)
    except LookupError:
        return None


def custom_macs(code: str) -> int | None:
    """MACs of a custom operator: 0 for TFLM's own that only move data, else unknown."""
    return 0 if code in _CUSTOM_WITHOUT else None


def conv_2d(inputs: Inputs, outputs: Outputs, _: Options) -> int:
    """Each output element sums one filter: filter [out, h, w, in / groups], output [n, h, w, out].

    The filter holds the input channels of one group only, so grouped convolution needs no factor.
    """
    channels, *window = _shape(inputs, 1, rank=4)
    output = _shape(outputs, 0, rank=4)
    _expect(channels == output[3])
    return math.prod(output) * math.prod(window)


def depthwise_conv_2d(inputs: Inputs, outputs: Outputs, _: Options) -> int:
    """Each output element sums one h * w window of one channel: filter [1, h, w, out].

    The filter's last dimension is input channels * depth multiplier, which the output has too.
    """
    _one, height, width, channels = _shape(inputs, 1, rank=4)
    output = _shape(outputs, 0, rank=4)
    _expect(channels == output[3])
    return math.prod(output) * height * width


def conv_3d(inputs: Inputs, outputs: Outputs, _: Options) -> int:
    """Like conv_2d, with filter [d, h, w, in / groups, out] and output [n, d, h, w, out]."""
    *window, channels = _shape(inputs, 1, rank=5)
    output = _shape(outputs, 0, rank=5)
    _expect(channels == output[4])
    return math.prod(output) * math.prod(window)


def transpose_conv(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Each input element is spread over one window of each output channel.

    Inputs are (output shape, filter [out, h, w, in], values [n, h, w, in]).
    """
    *window, depth = _shape(inputs, 1, rank=4)
    values = _shape(inputs, 2, rank=4)
    _expect(depth == values[3])
    return math.prod(values) * math.prod(window)


def conv_3d_transpose(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Like transpose_conv, with filter [d, h, w, out, in] and values [n, d, h, w, in]."""
    *window, depth = _shape(inputs, 1, rank=5)
    values = _shape(inputs, 2, rank=5)
    _expect(depth == values[4])
    return math.prod(values) * math.prod(window)


def fully_connected(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Each row of the input meets all weights [units, depth] once.

    The kernel sees an input of any rank as rows of ``depth`` values, whatever the output's rank.
    """
    units, depth = _shape(inputs, 1, rank=2)
    rows, rest = divmod(math.prod(_shape(inputs, 0)), max(depth, 1))
    _expect(rest == 0)
    return rows * units * depth


def batch_matmul(inputs: Inputs, outputs: Outputs, options: Options) -> int:
    """Each element of the (broadcast) output [..., m, n] sums k products: left is [..., m, k].

    With adj_x the left operand is stored transposed, [..., k, m].
    """
    left = _shape(inputs, 0)
    _expect(len(left) >= 2)
    return math.prod(_shape(outputs, 0)) * left[-2 if options.get("adj_x") else -1]


def svdf(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Each filter projects the input, then its memory: feature [filters, in], time [filters, t].

    The sum over the ranks of a unit only adds.
    """
    batch, depth = _shape(inputs, 0, rank=2)
    filters, width = _shape(inputs, 1, rank=2)
    rows, memory = _shape(inputs, 2, rank=2)
    _expect(width == depth and rows == filters)
    return batch * filters * (depth + memory)


def sequence_lstm(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Each weight is used once for each batch element and time step.

    Inputs 1 to 8 are the weights of the four gates for the input and the recurrence, 9 to 11 the
    peephole weights, 16 the projection; missing ones (CIFG, no peephole) cost nothing. The
    products of gates and state are element-wise.
    """
    weights = [*range(1, 12), 16]
    return _steps(inputs) * sum(_elements(inputs, index) for index in weights)


def lstm(inputs: Inputs, outputs: Outputs, options: Options) -> int:
    """One step of an LSTM: the full kernel as sequence_lstm; the basic one has all weights in one.

    The basic kernel's inputs are (values, previous output, weights [4 * cells, in + cells], ...).
    """
    if options.get("kernel_type") == 1:
        return _steps(inputs) * math.prod(_shape(inputs, 2, rank=2))
    return sequence_lstm(inputs, outputs, options)


def rnn(inputs: Inputs, _: Outputs, __: Options) -> int:
    """Input weights (1) and recurrent weights (2), once for each batch element and time step."""
    return _steps(inputs) * (_elements(inputs, 1) + _elements(inputs, 2))


def _shape(tensors: Sequence[Tensor | None], index: int, rank: int | None = None) -> Sequence[int]:
    tensor = tensors[index]
    if tensor is None or rank not in (None, len(tensor.shape)):
        raise LookupError
    return tensor.shape


def _expect(fits: bool) -> None:
    if not fits:
        raise LookupError


def _elements(inputs: Inputs, index: int) -> int:
    """Elements of an optional input; inputs at the end may be left out altogether."""
    tensor = inputs[index] if index < len(inputs) else None
    return 0 if tensor is None else tensor.elements


def _steps(inputs: Inputs) -> int:
    """Batch elements * time steps: input is [..., depth], time first or batch first."""
    return math.prod(_shape(inputs, 0)[:-1])


_FORMULAS: Mapping[str, Callable[[Inputs, Outputs, Options], int]] = {
    "BATCH_MATMUL": batch_matmul,
    "CONV_2D": conv_2d,
    "CONV_3D": conv_3d,
    "CONV_3D_TRANSPOSE": conv_3d_transpose,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected,
    "LSTM": lstm,
    "RNN": rnn,
    "SVDF": svdf,
    "TRANSPOSE_CONV": transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": sequence_lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": rnn,
}

_OTHERS_WITHOUT = """
    ATAN2 BITCAST BITWISE_XOR FAKE_QUANT GELU ONE_HOT POW RANGE RANK REDUCE_ANY REDUCE_PROD
    RELU_0_TO_1 RELU_N1_TO_1 RIGHT_SHIFT SCATTER_ND SELECT SIGN TILE TOPK_V2 UNIQUE WHERE
"""
_WITHOUT = (BUILTINS - _FORMULAS.keys() - CALLERS) | frozenset(_OTHERS_WITHOUT.split())

_CUSTOM_WITHOUT = frozenset(("CIRCULAR_BUFFER", "SignalDelay", "SignalFramer", "SignalStacker"))
