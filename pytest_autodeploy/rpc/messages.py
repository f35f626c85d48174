"""What host and board say to each other, as ``firmware/autodeploy.erpc`` declares it.

The host and the simulated board share these tables; a test holds them against the interface file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Annotated, Any, Self

from erpc.basic_codec import BasicCodec

from pytest_autodeploy.rpc.wire import Int32, Struct, Uint32, Uint64, Wire, wire_of, wires_of

PROTOCOL_VERSION = 1
SERVICE_ID = 1
MESSAGE_HEAD_BYTES = 8
MIN_MESSAGE_BYTES = 256
MAX_MESSAGE_BYTES = 0xFFFF
BOARD_SILENCE_S = 0.1
"""Silence after which a board forgets an unfinished frame."""


class OtherProtocol(Exception):
    """An identity of another protocol version, of which no more than ``version`` can be read."""

    def __init__(self, version: int) -> None:
        super().__init__(f"protocol version {version}")
        self.version = version


class Status(IntEnum):
    """How a call ended on the board."""

    OK = 0
    BAD_ARGUMENT = 1
    NO_MODEL = 2
    NOT_CONFIGURED = 3
    NO_MEMORY = 4
    UNSUPPORTED_OPERATOR = 5
    BAD_MODEL = 6
    INVOKE_FAILED = 7
    UNSUPPORTED = 8
    INTERNAL_ERROR = 9

    @property
    def words(self) -> str:
        """The status as a message says it, such as ``no memory``."""
        return self.name.lower().replace("_", " ")


class BoardKind(IntEnum):
    """What stands behind the link, which decides the source of its numbers."""

    SIMULATED = 0
    EMULATED = 1
    HARDWARE = 2


class ClockMode(IntEnum):
    """Clock modes of a core, for short LP and HP."""

    LOW_POWER = 0
    HIGH_PERFORMANCE = 1


class TensorType(IntEnum):
    """Element types, numbered as TfLiteType."""

    NO_TYPE = 0
    FLOAT32 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT16 = 10
    FLOAT64 = 11
    COMPLEX128 = 12
    UINT64 = 13
    RESOURCE = 14
    VARIANT = 15
    UINT32 = 16
    UINT16 = 17
    INT4 = 18
    BFLOAT16 = 19


class PowerOutcome(IntEnum):
    """How the latest power run ended."""

    NONE = 0
    DONE = 1
    NO_TRIGGER = 2
    TRIGGER_STUCK = 3
    INVOKE_FAILED = 4


class Capability(IntFlag):
    """What a board can do beyond running a model."""

    LAYER_PROFILE = 1
    CLOCK_MODES = 2
    CYCLE_COUNTER = 4
    POWER_WINDOW = 8
    ANY_TENSOR = 16


@dataclass(frozen=True)
class Identity(Struct):
    """What a board is and what it runs; frequencies in Hz, sizes in bytes."""

    protocol_version: Uint32
    kind: BoardKind
    board: str
    core: str
    build_id: str
    model_sha256: bytes
    engine: str
    engine_version: str
    capabilities: Annotated[Capability, "uint32"]
    clock: ClockMode
    clocks_hz: tuple[Uint32, ...]
    tick_hz: Uint32
    max_message_bytes: Uint32
    window_bytes: Uint32
    max_invocations: Uint32
    counters: tuple[str, ...]

    @classmethod
    def read(cls, codec: BasicCodec) -> Self:
        """Reads one from a message; raises `OtherProtocol` when its version is not ours."""
        version, *rest = wires_of(cls).values()
        if (found := version.read(codec)) != PROTOCOL_VERSION:
            raise OtherProtocol(found)
        return cls(found, *(wire.read(codec) for wire in rest))


@dataclass(frozen=True)
class ModelState(Struct):
    """A configured model: the arena it was given and used (bytes), and how many of what it has."""

    arena_bytes: Uint32
    arena_used_bytes: Uint32
    inputs: Uint32
    outputs: Uint32
    layers: Uint32
    variables: Uint32


@dataclass(frozen=True)
class TensorInfo(Struct):
    """A tensor as the engine sees it; ``scale`` is 0 when not quantised per tensor."""

    name: str
    element_type: TensorType
    shape: tuple[Int32, ...]
    size_bytes: Uint32
    scale: float
    zero_point: Int32

    @property
    def dtype(self) -> str:
        """The element type under its numpy name, such as ``int8``."""
        return self.element_type.name.lower()


@dataclass(frozen=True)
class InvokeTiming(Struct):
    """Time of a call of ``invoke`` in ticks; ``ticks`` has one entry per inference."""

    total_ticks: Uint64
    includes_first: bool
    ticks: tuple[Uint64, ...]


@dataclass(frozen=True)
class LayerRecord(Struct):
    """One layer of the latest inference; ``counters`` in the order of `Identity.counters`."""

    tag: str
    ticks: Uint64
    counters: tuple[Uint32, ...]


@dataclass(frozen=True)
class PowerRun(Struct):
    """The latest power run: how it ended, the inferences in its window, and the window in ticks."""

    outcome: PowerOutcome
    inferences: Uint32
    ticks: Uint64


@dataclass(frozen=True)
class Call:
    """One call of the interface: what it takes and gives, and how the host may treat it.

    A ``repeatable`` call is sent again after a failure of the link. A ``prompt`` one answers within
    milliseconds, so that silence soon means that a frame was lost.
    """

    id: int
    name: str
    takes: dict[str, Wire] = field(default_factory=dict)
    gives: dict[str, Wire] = field(default_factory=dict)
    repeatable: bool = True
    prompt: bool = True


def _types(**annotations: Any) -> dict[str, Wire]:
    return {name: wire_of(annotation) for name, annotation in annotations.items()}


IDENTIFY = Call(1, "identify", {}, _types(identity=Identity))
CONFIGURE = Call(2, "configure", _types(arena_bytes=Uint32), _types(state=ModelState), prompt=False)
DESCRIBE_INPUT = Call(3, "describe_input", _types(index=Uint32), _types(info=TensorInfo))
DESCRIBE_OUTPUT = Call(4, "describe_output", _types(index=Uint32), _types(info=TensorInfo))
WRITE_INPUT = Call(5, "write_input", _types(index=Uint32, offset=Uint32, data=bytes))
INVOKE = Call(
    6,
    "invoke",
    _types(count=Uint32),
    _types(timing=InvokeTiming),
    repeatable=False,
    prompt=False,
)
READ_OUTPUT = Call(
    7, "read_output", _types(index=Uint32, offset=Uint32, length=Uint32), _types(data=bytes)
)
READ_LAYERS = Call(
    8,
    "read_layers",
    _types(first=Uint32, count=Uint32),
    _types(records=tuple[LayerRecord, ...]),
)
READ_LOG = Call(9, "read_log", _types(cursor=Uint32), _types(next=Uint32, text=bytes))
SET_CLOCK = Call(10, "set_clock", _types(mode=ClockMode), prompt=False)
RESET_STATE = Call(11, "reset_state", prompt=False)
REBOOT = Call(12, "reboot", repeatable=False)
ARM_POWER = Call(
    13, "arm_power", _types(count=Uint32, wait_ms=Uint32), repeatable=False, prompt=False
)
POWER_RESULT = Call(14, "power_result", {}, _types(run=PowerRun))
KEEP_TENSORS = Call(15, "keep_tensors", _types(keep=bool))
DESCRIBE_TENSOR = Call(16, "describe_tensor", _types(index=Uint32), _types(info=TensorInfo))
READ_TENSOR = Call(
    17, "read_tensor", _types(index=Uint32, offset=Uint32, length=Uint32), _types(data=bytes)
)
SELECT_COUNTERS = Call(
    18, "select_counters", _types(events=tuple[Uint32, ...]), _types(at_once=Uint32)
)

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
    )
}
