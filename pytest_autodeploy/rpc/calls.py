"""The calls of ``firmware/autodeploy.erpc``: what they take and give, how a host may treat them.

The host and the simulated board share this table; a test holds it against the interface file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_autodeploy.rpc.messages import (
    BoardReport,
    ClockMode,
    Identity,
    Inference,
    InvokeTiming,
    LayerRecord,
    ModelState,
    PowerRun,
    ProfileTiming,
    TensorInfo,
)
from pytest_autodeploy.rpc.wire import Uint32, Wire, wire_of


@dataclass(frozen=True)
class Call:
    """One call of the interface: what it takes and gives, and how the host may treat it.

    An ``ordered`` call changes something: the board carries it out once and in order. A
    ``repeatable`` call is sent again after a failure of the link. A ``prompt`` one is asked for
    again in silence, too: it answers within milliseconds, or its repetition costs nothing.
    """

    id: int
    name: str
    takes: dict[str, Wire] = field(default_factory=dict)
    gives: dict[str, Wire] = field(default_factory=dict)
    ordered: bool = False
    repeatable: bool = True
    prompt: bool = True


def _types(**annotations: Any) -> dict[str, Wire]:
    return {name: wire_of(annotation) for name, annotation in annotations.items()}


IDENTIFY = Call(1, "identify", _types(host_version=Uint32), _types(identity=Identity))
IDENTIFY_OF_VERSION_1 = Call(1, "identify", {}, _types(identity=Identity))
CONFIGURE = Call(
    2,
    "configure",
    _types(arena_bytes=Uint32),
    _types(state=ModelState),
    ordered=True,
    prompt=False,
)
DESCRIBE_INPUT = Call(3, "describe_input", _types(index=Uint32), _types(info=TensorInfo))
DESCRIBE_OUTPUT = Call(4, "describe_output", _types(index=Uint32), _types(info=TensorInfo))
WRITE_INPUT = Call(5, "write_input", _types(index=Uint32, offset=Uint32, data=bytes), ordered=True)
INVOKE = Call(
    6,
    "invoke",
    _types(count=Uint32),
    _types(timing=InvokeTiming),
    ordered=True,
)
READ_OUTPUT = Call(
    7, "read_output", _types(index=Uint32, offset=Uint32, length=Uint32), _types(data=bytes)
)
READ_LAYERS = Call(
    8,
    "read_layers",
    _types(first=Uint32, count=Uint32),
    _types(total=Uint32, records=tuple[LayerRecord, ...]),
)
READ_LOG = Call(9, "read_log", _types(cursor=Uint32), _types(end=Uint32, next=Uint32, text=bytes))
SET_CLOCK = Call(10, "set_clock", _types(mode=ClockMode), ordered=True, prompt=False)
RESET_STATE = Call(11, "reset_state", ordered=True, prompt=False)
REBOOT = Call(12, "reboot", ordered=True, repeatable=False)
ARM_POWER = Call(
    13,
    "arm_power",
    _types(count=Uint32, wait_ms=Uint32),
    ordered=True,
    repeatable=False,
    prompt=False,
)
POWER_RESULT = Call(14, "power_result", {}, _types(run=PowerRun))
KEEP_TENSORS = Call(15, "keep_tensors", _types(keep=bool), ordered=True)
DESCRIBE_TENSOR = Call(16, "describe_tensor", _types(index=Uint32), _types(info=TensorInfo))
READ_TENSOR = Call(
    17, "read_tensor", _types(index=Uint32, offset=Uint32, length=Uint32), _types(data=bytes)
)
SELECT_COUNTERS = Call(
    18,
    "select_counters",
    _types(events=tuple[Uint32, ...]),
    _types(at_once=Uint32),
    ordered=True,
)
INFER = Call(19, "infer", _types(inputs=bytes), _types(inference=Inference), ordered=True)
PROFILE = Call(20, "profile", {}, _types(timing=ProfileTiming), ordered=True)
DESCRIBE_BOARD = Call(21, "describe_board", {}, _types(report=BoardReport))
BEGIN_MODEL = Call(22, "begin_model", _types(size_bytes=Uint32, sha256=bytes), ordered=True)
WRITE_MODEL = Call(23, "write_model", _types(offset=Uint32, data=bytes), ordered=True)
PROVE_MODEL = Call(24, "prove_model", {}, _types(sha256=bytes), ordered=True, prompt=False)

CALLS = {
    call.id: call
    for call in (
        IDENTIFY,
        CONFIGURE,
        DESCRIBE_INPUT,
        DESCRIBE_OUTPUT,
        WRITE_INPUT,
        INVOKE,
        READ_OUTPUT,
        READ_LAYERS,
        READ_LOG,
        SET_CLOCK,
        RESET_STATE,
        REBOOT,
        ARM_POWER,
        POWER_RESULT,
        KEEP_TENSORS,
        DESCRIBE_TENSOR,
        READ_TENSOR,
        SELECT_COUNTERS,
        INFER,
        PROFILE,
        DESCRIBE_BOARD,
        BEGIN_MODEL,
        WRITE_MODEL,
        PROVE_MODEL,
    )
}
