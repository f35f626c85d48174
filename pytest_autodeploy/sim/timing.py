"""Modelled cycles of an operator on a core: calibrated on published tables, the same on every run.

Cortex-M4F: the per-layer table of Ambiq's application note "From TF to EVB" (keyword spotting,
DS-CNN int8, Apollo4 Plus at 192 MHz, first inference). Its RESHAPE gives what every operator
costs beyond its work; the other layers give cycles per MAC or per element.

Cortex-M55: no per-layer table has been published. Assumption: cycles fall from M4F to M55 as
instructions do. The instructions were counted in QEMU with one TFLM build per core: MLPerf Tiny
ResNet-8 stands for convolutions, the autoencoder (AD) for FULLY_CONNECTED, the mean of KWS and
VWW for depthwise and pointwise convolutions and for the rest.

The application note's figures are those of a cold, instrumented inference, so modelled times are
those of a slow day: good for comparing models and layers, not for predicting a board.
There is no model of caches, so the first inference costs what the others do; nor of data types,
so a float layer costs what an int8 layer does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.model.counters import CONTROL_FLOW
from pytest_autodeploy.model.execution import called_subgraphs

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import Core
    from pytest_autodeploy.model.graph import Model, Operator

OPERATOR_OVERHEAD = 3_492
"""Cycles of dispatch and set-up: RESHAPE of 64 elements takes 3748, of which 4 an element."""

COPY, POOL, SOFTMAX = "copy", "pool", "softmax"
CONVOLUTION, POINTWISE, DEPTHWISE, FULLY_CONNECTED = "conv", "pointwise", "depthwise", "fc"

M4F_CYCLES: Mapping[str, float] = {
    # per MAC
    CONVOLUTION: 28.665,  # 9,176,380 cycles, 320,000 MACs
    POINTWISE: 16.746,  # 8,577,328 cycles, 512,000 MACs
    DEPTHWISE: 62.168,  # 4,479,608 cycles, 72,000 MACs
    FULLY_CONNECTED: 28.844,  # 25,644 cycles, 768 MACs
    # per element
    POOL: 13.535,  # 111,772 cycles, 8,000 elements read
    SOFTMAX: 1_173.5,  # 17,574 cycles, 12 elements
    COPY: 4.0,
}

_SEPARABLE = 0.243
M55_SHARE: Mapping[str, float] = {
    CONVOLUTION: 0.152,  # ResNet-8: 4.33 M instead of 28.5 M instructions
    FULLY_CONNECTED: 0.116,  # AD: 66.4 k instead of 574 k
    POINTWISE: _SEPARABLE,  # KWS: 1.60 M instead of 7.19 M; VWW: 5.91 M instead of 22.5 M
    DEPTHWISE: _SEPARABLE,
    POOL: _SEPARABLE,
    SOFTMAX: _SEPARABLE,
    COPY: _SEPARABLE,
}

# fmt: off
COPYING = frozenset({
    "ASSIGN_VARIABLE", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "CALL_ONCE", "CONCATENATION",
    "DEPTH_TO_SPACE", "EXPAND_DIMS", "FILL", "GATHER", "GATHER_ND", "IF", "MIRROR_PAD", "PACK",
    "PAD", "PADV2", "READ_VARIABLE", "RESHAPE", "SHAPE", "SLICE", "SPACE_TO_BATCH_ND",
    "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TRANSPOSE", "UNPACK",
    "VAR_HANDLE", "WHILE", "ZEROS_LIKE",
})
# fmt: on
POOLING = frozenset({"AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"})


@dataclass(frozen=True)
class Work:
    """What an operator does: ``amount`` MACs or elements, of a ``kind`` of the tables above."""

    kind: str
    amount: int


def layer_cycles(operator: Operator, core: Core) -> int:
    """Modelled cycles of one run of the operator, at any clock."""
    work = work_of(operator)
    share = M55_SHARE[work.kind] if core == "cortex-m55" else 1.0
    return OPERATOR_OVERHEAD + round(work.amount * M4F_CYCLES[work.kind] * share)


def main_cycles(model: Model, core: Core, ran: Mapping[int, int]) -> list[int]:
    """Modelled cycles of each operator of the main subgraph, with the subgraphs that it runs.

    ``ran``: how often each subgraph ran in the inference. What a subgraph takes counts for the
    first operator that runs it.
    """
    flow = _Flow(model, core, ran)
    return [layer_cycles(operator, core) + flow.inside(operator) for operator in flow.of(0)]


class _Flow:
    """What IF and WHILE run, in cycles of a whole inference."""

    def __init__(self, model: Model, core: Core, ran: Mapping[int, int]) -> None:
        self._model = model
        self._core: Core = core
        self._ran = ran
        self._seen: set[int] = set()

    def of(self, subgraph: int) -> list[Operator]:
        """The operators of a subgraph."""
        return [operator for operator in self._model.operators if operator.subgraph == subgraph]

    def inside(self, operator: Operator) -> int:
        """The subgraphs that an operator runs, and what WHILE copies each time."""
        if operator.name not in CONTROL_FLOW:
            return 0
        called = [number for number in called_subgraphs(operator) if number not in self._seen]
        self._seen.update(called)
        copies = layer_cycles(operator, self._core) - OPERATOR_OVERHEAD
        again = self._ran.get(called[-1], 0) * copies if operator.name == "WHILE" and called else 0
        return again + sum(
            self._ran.get(number, 0) * layer_cycles(each, self._core) + self.inside(each)
            for number in called
            for each in self.of(number)
        )


def unmodelled(operators: Sequence[Operator]) -> tuple[str, ...]:
    """Names of the operators whose work is unknown: what the model of time leaves out.

    Of WHILE and IF the simulated board counts what they really ran.
    """
    unknown = (op.name for op in operators if op.macs is None and op.name not in CONTROL_FLOW)
    return tuple(dict.fromkeys(unknown))


def work_of(operator: Operator) -> Work:
    """The work that decides the time of an operator.

    Fallbacks: an operator with MACs that is not in the table costs what a convolution does per MAC;
    one without, or whose MACs are unknown, what pooling does per element read or written. WHILE and
    IF only copy: what they run is counted by itself.
    """
    if operator.macs and operator.name not in CONTROL_FLOW:
        return Work(_mac_kind(operator), operator.macs)
    if operator.name in POOLING:
        return Work(POOL, _written(operator) * _window(operator))
    if operator.name in ("SOFTMAX", "LOG_SOFTMAX"):
        return Work(SOFTMAX, _written(operator))
    if operator.name in COPYING:
        return Work(COPY, _written(operator))
    return Work(POOL, max(_read(operator), _written(operator)))


def _mac_kind(operator: Operator) -> str:
    if operator.name == "DEPTHWISE_CONV_2D":
        return DEPTHWISE
    if operator.name == "FULLY_CONNECTED":
        return FULLY_CONNECTED
    if operator.name == "CONV_2D" and _window(operator) == 1:
        return POINTWISE
    return CONVOLUTION


def _window(operator: Operator) -> int:
    """Positions that the filter of a convolution or a pool covers."""
    if operator.name in POOLING:
        size = (operator.options.get(key, 1) for key in ("filter_height", "filter_width"))
        return math.prod(int(side) for side in size)
    weights = operator.inputs[1]
    return math.prod(weights.shape[1:3]) if weights is not None else 0


def _written(operator: Operator) -> int:
    return sum(tensor.elements for tensor in operator.outputs)


def _read(operator: Operator) -> int:
    """Elements of the activations read; constants, such as weights, are not counted."""
    return sum(t.elements for t in operator.inputs if t is not None and not t.constant)
