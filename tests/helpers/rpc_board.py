"""A small board for the tests of the RPC: its outputs echo its inputs, over a pty or TCP."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import select
import socket
import threading
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from pytest_autodeploy.rpc.messages import (
    BOARD_SILENCE_S,
    PROTOCOL_VERSION,
    BoardKind,
    BoardReport,
    Capability,
    ClockMode,
    Identity,
    Inference,
    InvokeTiming,
    LayerRecord,
    ModelState,
    Placement,
    PowerOutcome,
    PowerRun,
    ProfileTiming,
    ResetCause,
    Status,
    TensorInfo,
    TensorType,
)
from pytest_autodeploy.rpc.service import FrameScanner, Log, Refused, Sessions, dispatch
from pytest_autodeploy.sim.loading import ModelStore
from pytest_autodeploy.sim.throttle import ByteStream

IDENTITY = Identity(
    protocol_version=PROTOCOL_VERSION,
    kind=BoardKind.SIMULATED,
    board="echo_evb",
    core="cortex-m4f",
    build_id="b1",
    model_sha256=bytes(range(32)),
    engine="echo",
    engine_version="1",
    capabilities=Capability.LAYER_PROFILE | Capability.CLOCK_MODES,
    clock=ClockMode.HIGH_PERFORMANCE,
    clocks_hz=(96_000_000, 192_000_000),
    tick_hz=1_000_000,
    max_message_bytes=16 * 1024,
    window_bytes=64 * 1024,
    max_invocations=100,
    counters=("cycles",),
    session=0,
)

Tamper = Callable[[bytes], bytes]


@dataclass
class EchoValidator:
    """Two tensors whose outputs are their inputs; counts its invocations."""

    identity: Identity = IDENTITY
    tensors: list[bytearray] = field(default_factory=lambda: [bytearray(100_000), bytearray(8)])
    invocations: int = 0
    layers: int = 3
    kept: bool = False
    store: ModelStore = field(default_factory=lambda: ModelStore(0))

    def identify(self) -> Identity:
        return self.identity

    def configure(self, arena_bytes: int) -> ModelState:
        if arena_bytes > 1_000_000:
            raise Refused(Status.NO_MEMORY, f"an arena of {arena_bytes} bytes does not fit")
        return ModelState(arena_bytes, 1000, 2, 2, self.layers, 0)

    def describe_input(self, index: int) -> TensorInfo:
        size = len(self._tensor(index))
        return TensorInfo(f"in{index}", TensorType.INT8, (1, size), size, 0.5, -3)

    def describe_output(self, index: int) -> TensorInfo:
        size = len(self._tensor(index))
        return TensorInfo(f"out{index}", TensorType.INT8, (1, size), size, 0.25, 4)

    def write_input(self, index: int, offset: int, data: bytes) -> None:
        tensor = self._tensor(index)
        if offset + len(data) > len(tensor):
            raise Refused(Status.BAD_ARGUMENT, f"input {index} has {len(tensor)} bytes")
        tensor[offset : offset + len(data)] = data

    def invoke(self, count: int) -> InvokeTiming:
        if count > self.identity.max_invocations:
            raise Refused(Status.BAD_ARGUMENT, f"{count} inferences at once")
        self.invocations += count
        return InvokeTiming(5 * count, self.invocations == count, (5,) * count)

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        return bytes(self._tensor(index)[offset : offset + length])

    def infer(self, inputs: bytes) -> Inference:
        at = 0
        for tensor in self.tensors if inputs else []:
            tensor[:] = inputs[at : at + len(tensor)]
            at += len(tensor)
        timing = self.invoke(1)
        return Inference(timing.total_ticks, timing.includes_first, b"".join(self.tensors))

    def profile(self) -> ProfileTiming:
        timing = self.invoke(1)
        return ProfileTiming(timing.total_ticks, 1, timing.includes_first, self.layers)

    def read_layers(self, first: int, count: int) -> tuple[int, Sequence[LayerRecord]]:
        stop = min(self.layers, first + count)
        records = [LayerRecord(f"LAYER_{index}", index, (index,)) for index in range(first, stop)]
        return self.layers, records

    def describe_board(self) -> BoardReport:
        places = (Placement("arena", "DTCM", 0x10000000, 1000), Placement("model", "", 0, 0))
        return BoardReport(places, 191_998_000, ResetCause.PIN, "burst mode", 1 << 40)

    def set_clock(self, mode: ClockMode) -> None:
        raise Refused(Status.UNSUPPORTED, f"no {mode.name} mode")

    def reset_state(self) -> None:
        pass

    def reboot(self) -> None:
        pass

    def arm_power(self, count: int, wait_ms: int) -> None:
        pass

    def power_result(self) -> PowerRun:
        return PowerRun(PowerOutcome.DONE, 7, 1 << 40)

    def keep_tensors(self, keep: bool) -> None:
        self.kept = keep

    def describe_tensor(self, index: int) -> TensorInfo:
        return dataclasses.replace(self.describe_output(index), name=f"tensor{index}")

    def read_tensor(self, index: int, offset: int, length: int) -> bytes:
        if not self.kept:
            raise Refused(Status.BAD_ARGUMENT, "tensors are not kept")
        return self.read_output(index, offset, length)

    def select_counters(self, events: Sequence[int]) -> int:
        names = tuple(f"0x{event:04X}" for event in events) or ("cycles",)
        self.identity = dataclasses.replace(self.identity, counters=names)
        return 4

    def begin_model(self, size_bytes: int, sha256: bytes) -> None:
        self.store.begin(size_bytes, sha256)

    def write_model(self, offset: int, data: bytes) -> None:
        self.store.write(offset, data)

    def prove_model(self) -> bytes:
        return hashlib.sha256(self.store.prove()).digest()

    def _tensor(self, index: int) -> bytearray:
        if index >= len(self.tensors):
            raise Refused(Status.BAD_ARGUMENT, f"there is no tensor {index}")
        return self.tensors[index]


class Descriptor:
    """A byte stream over a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def read(self, timeout_s: float) -> bytes:
        ready, _, _ = select.select([self.descriptor], [], [], timeout_s)
        return os.read(self.descriptor, 65536) if ready else b""

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.descriptor, data) :]


@dataclass
class Middle:
    """A man in the middle: each tamper function changes one request read or one reply."""

    stream: ByteStream
    requests: list[Tamper] = field(default_factory=list)
    replies: list[Tamper] = field(default_factory=list)

    def read(self, timeout_s: float) -> bytes:
        data = self.stream.read(timeout_s)
        return self.requests.pop(0)(data) if data and self.requests else data

    def write(self, data: bytes) -> None:
        data = self.replies.pop(0)(data) if self.replies else data
        if data:
            self.stream.write(data)


@dataclass
class Board:
    """A served board: where it is, what it does, and the man in the middle."""

    url: str
    validator: EchoValidator
    log: Log
    middle: Middle
    hang_up: Callable[[], None]
    sessions: Sessions = field(default_factory=Sessions)


@contextmanager
def pty_board(
    validator: EchoValidator | None = None, sessions: Sessions | None = None
) -> Iterator[Board]:
    """A board behind a pty, served by a thread of its own."""
    master, slave = os.openpty()
    tty.setraw(slave)
    descriptors = {master, slave}

    def hang_up() -> None:
        while descriptors:
            os.close(descriptors.pop())

    stop = threading.Event()
    middle = Middle(Descriptor(master))
    board = Board(os.ttyname(slave), validator or EchoValidator(), Log(), middle, hang_up)
    board.sessions = sessions or board.sessions
    thread = threading.Thread(target=_serve, args=(board, stop), daemon=True)
    thread.start()
    try:
        yield board
    finally:
        stop.set()
        thread.join()
        hang_up()


@contextmanager
def tcp_board(validator: EchoValidator | None = None) -> Iterator[Board]:
    """A board behind a TCP port, served by a thread of its own to one host."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        middle = Middle(Descriptor(-1))
        url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
        board = Board(url, validator or EchoValidator(), Log(), middle, stop.set)

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                middle.stream = Descriptor(connection.fileno())
                _serve(board, stop)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield board
        finally:
            stop.set()
            thread.join()


def _serve(board: Board, stop: threading.Event) -> None:
    with suppress(OSError, ValueError):
        serve(board.middle, board.validator, board.log, stop, board.sessions)


def serve(
    stream: ByteStream,
    validator: EchoValidator,
    log: Log,
    stop: threading.Event | None = None,
    sessions: Sessions | None = None,
) -> None:
    """Answers what arrives on the stream until ``stop`` is set or the stream breaks."""
    sessions = sessions or Sessions()
    limit = validator.identity.max_message_bytes
    scanner = FrameScanner(limit)
    while stop is None or not stop.is_set():
        data = stream.read(BOARD_SILENCE_S if scanner.pending else 0.02)
        bodies = scanner.feed(data) if data else scanner.idle()
        for body in bodies:
            stream.write(dispatch(body, validator, log, limit, sessions))
