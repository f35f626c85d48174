"""What host and board say to each other, as ``firmware/autodeploy.erpc`` declares it.

The host and the simulated board share it; a test holds it against the interface file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Annotated, Self

from erpc.basic_codec import BasicCodec

from pytest_autodeploy.rpc.wire import Int32, Struct, Uint32, Uint64, wires_of

PROTOCOL_VERSION = 2
SERVICE_ID = 1
MESSAGE_HEAD_BYTES = 8
MIN_MESSAGE_BYTES = 256
MAX_MESSAGE_BYTES = 0xFFFF
SESSION_NUMBERS = 1 << 16
"""Sequence numbers of a session, the first of which stays unused."""

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
    OUT_OF_ORDER = 10

    @property
    def text(self) -> str:
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


class ResetCause(IntEnum):
    """What a board was last started by."""

    UNKNOWN = 0
    POWER_ON = 1
    PIN = 2
    REQUESTED = 3
    WATCHDOG = 4
    BROWN_OUT = 5
    FAULT = 6

    @property
    def text(self) -> str | None:
        """The cause as a message says it, such as ``power on``; None when it is unknown."""
        return self.name.lower().replace("_", " ") if self else None


class Capability(IntFlag):
    """What a board can do beyond running a model."""

    LAYER_PROFILE = 1
    CLOCK_MODES = 2
    CYCLE_COUNTER = 4
    POWER_WINDOW = 8
    ANY_TENSOR = 16
    MODEL_UPLOAD = 32


@dataclass(frozen=True)
class Identity(Struct):
    """What a board is and what it runs; frequencies in Hz, sizes in bytes.

    ``session`` is that of whoever asked: the number before that of its first ordered request.
    """

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
    session: Uint32 = field(compare=False)

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
class Inference(Struct):
    """Time of one inference in ticks, and its outputs one behind the other.

    ``outputs`` is empty when they do not fit a message.
    """

    ticks: Uint64
    is_first: bool
    outputs: bytes


@dataclass(frozen=True)
class ProfileTiming(Struct):
    """Ticks of a profiled inference, those of them that the profiler took, and its layers."""

    ticks: Uint64
    profiler_ticks: Uint64
    is_first: bool
    layers: Uint32


@dataclass(frozen=True)
class LayerRecord(Struct):
    """One layer of the latest profile; ``counters`` in the order of `Identity.counters`."""

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
class Placement(Struct):
    """Where a part of the firmware lies; ``memory`` is empty and ``size_bytes`` 0 when unknown."""

    part: str
    memory: str
    address: Uint64
    size_bytes: Uint32


@dataclass(frozen=True)
class BoardReport(Struct):
    """Where things are on a board, and how it has started.

    ``clock_hz`` is the core's clock as measured against another one, 0 where there is none;
    ``failed_step`` the step of the start-up that failed, empty when all is well. ``ticks`` is the
    present moment in ticks of the board, 0 where only inferences have time.
    """

    placements: tuple[Placement, ...]
    clock_hz: Uint32
    reset_cause: ResetCause
    failed_step: str
    ticks: Uint64
