"""The board's side of the RPC in Python: finds the frames in a byte stream, answers each, logs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol

from erpc.codec import CodecError, MessageInfo, MessageType

from pytest_autodeploy.rpc.framing import FrameScanner, frame
from pytest_autodeploy.rpc.messages import (
    CALLS,
    MAX_MESSAGE_BYTES,
    MESSAGE_HEAD_BYTES,
    READ_LAYERS,
    READ_LOG,
    SERVICE_ID,
    Call,
    ClockMode,
    Identity,
    InvokeTiming,
    LayerRecord,
    ModelState,
    PowerRun,
    Status,
    TensorInfo,
)
from pytest_autodeploy.rpc.wire import MessageCodec

__all__ = ["FrameScanner", "Log", "Refused", "Validator", "dispatch"]

_ENVELOPE_BYTES = MESSAGE_HEAD_BYTES + 4 + 4
"""What a reply with one list or binary adds to it: the head, the length and the Status."""


class Refused(Exception):
    """A validator's answer to a call that it cannot or may not do; ``words`` go to the log."""

    def __init__(self, status: Status, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


class Validator(Protocol):
    """What a board does for each call; any method may raise `Refused`.

    ``read_log`` is missing here: `dispatch` answers it from the `Log`.
    """

    def identify(self) -> Identity:
        """What the board is and runs."""

    def configure(self, arena_bytes: int) -> ModelState:
        """Prepares the model in an arena; 0: the size it was flashed with."""

    def describe_input(self, index: int) -> TensorInfo:
        """An input tensor."""

    def describe_output(self, index: int) -> TensorInfo:
        """An output tensor."""

    def write_input(self, index: int, offset: int, data: bytes) -> None:
        """Stores bytes of an input tensor."""

    def invoke(self, count: int) -> InvokeTiming:
        """Runs the model."""

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes of an output tensor."""

    def read_layers(self, first: int, count: int) -> Sequence[LayerRecord]:
        """Records of the latest inference; what does not fit a message is cut off."""

    def set_clock(self, mode: ClockMode) -> None:
        """Changes the clock mode."""

    def reset_state(self) -> None:
        """Resource variables and state tensors as after configure."""

    def reboot(self) -> None:
        """Asks for a restart, which has to wait until the answer is on its way."""

    def arm_power(self, count: int, wait_ms: int) -> None:
        """Starts a power run of ``count`` inferences when the answer is on its way."""

    def power_result(self) -> PowerRun:
        """How the latest power run ended."""

    def keep_tensors(self, keep: bool) -> None:
        """Whether every tensor is kept from the next configure on."""

    def describe_tensor(self, index: int) -> TensorInfo:
        """A kept tensor of the main subgraph."""

    def read_tensor(self, index: int, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes of a kept tensor."""

    def select_counters(self, events: Sequence[int]) -> int:
        """The events that layers count, none: the board's own; gives how many fit at once."""


class Log:
    """The ring of a board's log; cursors count bytes since the start."""

    def __init__(self, capacity: int = 8192) -> None:
        self._capacity = capacity
        self._kept = bytearray()
        self._end = 0

    def write(self, line: str) -> None:
        """Adds a line; the oldest bytes leave the ring."""
        data = f"{line.rstrip()}\n".encode()
        self._end += len(data)
        self._kept += data
        del self._kept[: -self._capacity]

    def read(self, cursor: int, limit: int) -> tuple[int, bytes]:
        """The cursor to go on with, and at most ``limit`` bytes from ``cursor`` on.

        A cursor that is not in the ring starts at the oldest byte.
        """
        oldest = self._end - len(self._kept)
        if not oldest <= cursor <= self._end:
            cursor = oldest
        text = bytes(self._kept[cursor - oldest :][:limit])
        return cursor + len(text), text


def dispatch(
    body: bytes, validator: Validator, log: Log, max_message_bytes: int = MAX_MESSAGE_BYTES
) -> bytes:
    """The framed reply to the body of a request; empty when the body is no request.

    Every request gets a reply. When its status is not ``OK``, the words are in the log.
    """
    codec = MessageCodec(body)
    try:
        info = codec.start_read_message()
    except CodecError as error:
        head, sequence = struct.unpack_from("<II", body)
        info = MessageInfo(
            MessageType.kInvocationMessage, head >> 16 & 0xFF, head >> 8 & 0xFF, sequence
        )
        log.write(f"unreadable request: {error}")
        return frame(_reply(info, Status.UNSUPPORTED))
    if info.type is not MessageType.kInvocationMessage:
        log.write(f"not a request: {info}")
        return b""
    call = CALLS.get(info.request) if info.service == SERVICE_ID else None
    if call is None:
        log.write(f"unknown call {info.request} of service {info.service}")
        return frame(_reply(info, Status.UNSUPPORTED))
    try:
        results = _results(call, codec, validator, log, max_message_bytes - _ENVELOPE_BYTES)
        reply = _reply(info, Status.OK, call, results)
        if len(reply) <= max_message_bytes:
            return frame(reply)
        status, words = Status.BAD_ARGUMENT, f"the answer is too long: {len(reply)} bytes"
    except Refused as refusal:
        status, words = refusal.status, refusal.words
    except Exception as error:
        status, words = Status.INTERNAL_ERROR, f"{type(error).__name__}: {error}"
    log.write(f"{call.name}: {words}")
    return frame(_reply(info, status, call))


def _results(call: Call, codec: MessageCodec, validator: Validator, log: Log, room: int) -> Any:
    arguments = _arguments(call, codec)
    if call is READ_LOG:
        return log.read(arguments["cursor"], room - 4)
    results = getattr(validator, call.name)(**arguments)
    return _fitting(results, room) if call is READ_LAYERS else results


def _arguments(call: Call, codec: MessageCodec) -> dict[str, Any]:
    try:
        arguments = {name: wire.read(codec) for name, wire in call.takes.items()}
        codec.end()
    except CodecError as error:
        raise Refused(Status.BAD_ARGUMENT, f"malformed arguments: {error}") from error
    return arguments


def _fitting(records: Sequence[LayerRecord], room: int) -> Sequence[LayerRecord]:
    codec = MessageCodec()
    for number, record in enumerate(records):
        record.write(codec)
        if len(codec.buffer) > room:
            return records[:number]
    return records


def _reply(
    info: MessageInfo, status: Status, call: Call | None = None, results: Any = None
) -> bytearray:
    codec = MessageCodec()
    codec.start_write_message(info._replace(type=MessageType.kReplyMessage))
    gives = list(call.gives.values()) if call else []
    values = (results,) if len(gives) == 1 else results
    for index, wire in enumerate(gives):
        wire.write(codec, values[index] if status is Status.OK else wire.blank)
    codec.write_int32(status)
    return bytearray(codec.buffer)
