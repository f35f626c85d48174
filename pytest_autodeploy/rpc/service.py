"""The board's side of the RPC in Python: answers each request, and logs why when it is no."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from typing import Any

from erpc.codec import CodecError, MessageInfo, MessageType

from pytest_autodeploy.base import trace
from pytest_autodeploy.rpc.board_log import Log
from pytest_autodeploy.rpc.calls import CALLS, IDENTIFY, INFER, READ_LAYERS, READ_LOG, Call
from pytest_autodeploy.rpc.framing import FrameScanner, frame
from pytest_autodeploy.rpc.messages import (
    MAX_MESSAGE_BYTES,
    MESSAGE_HEAD_BYTES,
    PROTOCOL_VERSION,
    SERVICE_ID,
    Inference,
    LayerRecord,
    Status,
)
from pytest_autodeploy.rpc.sessions import Place, Sessions
from pytest_autodeploy.rpc.validator import Refused, Validator
from pytest_autodeploy.rpc.wire import MessageCodec

__all__ = ["FrameScanner", "Log", "Refused", "Sessions", "Validator", "dispatch"]

_ENVELOPE_BYTES = MESSAGE_HEAD_BYTES + 4 + 4
"""What a reply with one list or binary adds to it: the head, the length and the Status."""

_TIMING_BYTES = 8 + 1
"""What the reply of `infer` has besides."""


def dispatch(
    body: bytes,
    validator: Validator,
    log: Log,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    sessions: Sessions | None = None,
) -> bytes:
    """The framed reply to the body of a request; empty when the body is no request.

    Every request gets a reply. When its status is not ``OK``, the words are in the log. Without
    ``sessions`` each request is the first one of a board that has just started.
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
    answer = _Answer(call, info, validator, log, max_message_bytes, sessions or Sessions())
    with trace.span(call.name):
        return frame(answer.in_order(codec, body) if call.ordered else answer.reply(codec))


@dataclasses.dataclass(frozen=True)
class _Answer:
    """The answer to one request."""

    call: Call
    info: MessageInfo
    validator: Validator
    log: Log
    max_message_bytes: int
    sessions: Sessions

    def in_order(self, codec: MessageCodec, body: bytes) -> bytes:
        """The reply to an ordered request: what comes again is not carried out again."""
        match self.sessions.place(self.info.sequence, body):
            case Place.NEXT:
                self.sessions.reply = self.reply(codec)
            case Place.STALE:
                text = (
                    f"request {self.info.sequence} is late, or its session has ended; "
                    "identify opens one"
                )
                return self._refusal(Status.OUT_OF_ORDER, text)
        return self.sessions.reply

    def reply(self, codec: MessageCodec) -> bytes:
        """The reply to a request that is carried out."""
        try:
            reply = _reply(self.info, Status.OK, self.call, self._results(codec))
            if len(reply) <= self.max_message_bytes:
                return bytes(reply)
            text = f"the answer is too long: {len(reply)} bytes"
            return self._refusal(Status.BAD_ARGUMENT, text)
        except Refused as refusal:
            return self._refusal(refusal.status, refusal.text)
        except Exception as error:
            return self._refusal(Status.INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def _refusal(self, status: Status, text: str) -> bytes:
        self.log.write(f"{self.call.name}: {text}")
        return bytes(_reply(self.info, status, self.call))

    def _results(self, codec: MessageCodec) -> Any:
        arguments = _arguments(self.call, codec)
        room = self.max_message_bytes - _ENVELOPE_BYTES
        if self.call is READ_LOG:
            return self.log.end, *self.log.read(arguments["cursor"], room - 8)
        if self.call is IDENTIFY:
            return self._identity(**arguments)
        results = getattr(self.validator, self.call.name)(**arguments)
        if self.call is READ_LAYERS:
            total, records = results
            return total, _fitting(records, room - 4)
        return _fitting_outputs(results, room) if self.call is INFER else results

    def _identity(self, host_version: int) -> Any:
        if host_version != PROTOCOL_VERSION:
            self.log.write(
                f"the host speaks version {host_version} of the protocol, "
                f"this board {PROTOCOL_VERSION}"
            )
        session = self.sessions.give(self.info.sequence)
        return dataclasses.replace(self.validator.identify(), session=session)


def _arguments(call: Call, codec: MessageCodec) -> dict[str, Any]:
    if call is IDENTIFY and not codec.remaining:
        return {"host_version": 1}  # which does not say so
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


def _fitting_outputs(inference: Inference, room: int) -> Inference:
    """All outputs, or none when they do not fit."""
    if len(inference.outputs) <= room - _TIMING_BYTES:
        return inference
    return dataclasses.replace(inference, outputs=b"")


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
