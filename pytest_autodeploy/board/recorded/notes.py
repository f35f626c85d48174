"""The records of a recording: calls with their answers, and what is known besides."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_autodeploy.base.record_file import RecordingError
from pytest_autodeploy.catalog.fit import Placement
from pytest_autodeploy.rpc.calls import CALLS, Call
from pytest_autodeploy.rpc.messages import MAX_MESSAGE_BYTES

CALL = 2
ASIDE, PACKED, FAILED = 1, 2, 4
"""Flags of a call: made beside the measurements, its answer is packed by zlib, it had none."""

PACK_FROM = 512
"""Bytes of an answer from which packing is tried."""

_CALL = struct.Struct("<BBQII16sH")
"""Id, flags, microseconds from the start, microseconds that it took, inference, key, arguments."""


@dataclass(frozen=True)
class Answer:
    """A call with its answer, the bodies of messages behind their heads.

    ``instance`` is the inference that was read of, where one was. ``arguments`` are those of short
    calls: of others, such as inputs, the key alone is kept. ``failed`` names the error of a call
    that had no answer.
    """

    call: Call
    key: bytes
    instance: int
    arguments: bytes
    body: bytes
    began_us: int = 0
    took_us: int = 0
    aside: bool = False
    failed: bool = False

    def packed(self) -> bytes:
        """The payload of its record."""
        flags = ASIDE * self.aside | FAILED * self.failed
        body = self.body
        if len(body) >= PACK_FROM and len(small := zlib.compress(body, 1)) < len(body):
            flags, body = flags | PACKED, small
        head = _CALL.pack(
            self.call.id,
            flags,
            self.began_us,
            min(self.took_us, 0xFFFFFFFF),
            self.instance,
            self.key,
            len(self.arguments),
        )
        return head + self.arguments + body


def read_answer(payload: bytes) -> Answer:
    """The call that a record holds. Raises RecordingError."""
    if len(payload) < _CALL.size:
        raise RecordingError("a recorded call ends early")
    number, flags, began_us, took_us, instance, key, length = _CALL.unpack_from(payload)
    call = CALLS.get(number)
    if call is None or flags & ~(ASIDE | PACKED | FAILED) or _CALL.size + length > len(payload):
        raise RecordingError(f"a recorded call of the number {number} cannot be read")
    body = payload[_CALL.size + length :]
    if len(body) > MAX_MESSAGE_BYTES:
        raise RecordingError("a recorded answer is longer than any message")
    return Answer(
        call,
        key,
        instance,
        payload[_CALL.size : _CALL.size + length],
        _unpacked(body) if flags & PACKED else body,
        began_us,
        took_us,
        bool(flags & ASIDE),
        bool(flags & FAILED),
    )


def _unpacked(body: bytes) -> bytes:
    unpack = zlib.decompressobj()
    try:
        whole = unpack.decompress(body, MAX_MESSAGE_BYTES)
    except zlib.error as error:
        raise RecordingError(f"a recorded answer cannot be unpacked: {error}") from None
    if unpack.unconsumed_tail or not unpack.eof:
        raise RecordingError("a recorded answer is longer than any message")
    return whole


@dataclass(frozen=True)
class Loaded:
    """An image was loaded: its arena, whether it was the roomy one, and where its parts lie."""

    arena_bytes: int
    roomy: bool
    placement: Placement | None


@dataclass(frozen=True)
class Doubt:
    """Why times of a clock mode are not what they seem, by the PC's clock at the recording."""

    mode: int
    text: str


@dataclass(frozen=True)
class ArenaGuess:
    """Where the search for the smallest arena began."""

    bytes: int


@dataclass(frozen=True)
class Metered:
    """What a power meter saw of ``inferences`` in a clock mode; ``energy`` is for ``power``."""

    mode: Literal["HP", "LP"]
    inferences: int
    energy: dict[str, Any]


@dataclass(frozen=True)
class Full:
    """The recording has reached its bound: what came later is not in it."""

    most_bytes: int


Note = Loaded | Doubt | ArenaGuess | Metered | Full
NOTES: Mapping[int, type[Note]] = {3: Loaded, 4: Doubt, 5: ArenaGuess, 6: Metered, 7: Full}
"""By the type of their records."""

_TYPES = {note: number for number, note in NOTES.items()}


def write_note(note: Note) -> tuple[int, bytes]:
    """Type and payload of its record."""
    import msgspec

    return _TYPES[type(note)], msgspec.json.encode(note)


def read_note(kind: int, payload: bytes) -> Note:
    """The note that a record holds. Raises RecordingError."""
    import msgspec

    try:
        note: Note = msgspec.json.decode(payload, type=NOTES[kind])
    except (KeyError, msgspec.MsgspecError, RecursionError) as error:
        raise RecordingError(f"a record of the type {kind} cannot be read: {error}") from None
    return note
