"""The answer of `invoke` taken apart: one time for each inference, as they are asked for again."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pytest_autodeploy.base.record_file import RecordingError
from pytest_autodeploy.board.recorded.context import digest
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.messages import InvokeTiming, Status
from pytest_autodeploy.rpc.wire import MessageCodec

_HEAD = struct.Struct("<Q?I")
_TICKS = 8


@dataclass(frozen=True)
class TimeKeys:
    """Where the times of inferences under the same conditions are: of the first, of those after."""

    first: bytes
    warm: bytes

    @classmethod
    def of(cls, key: bytes) -> TimeKeys:
        """Those of the key of a call of `invoke`."""
        return cls(digest(key, b"first"), digest(key, b"warm"))


def times_of(body: bytes) -> tuple[bool, tuple[int, ...]]:
    """Whether the first inference is among them, and the ticks of each. Raises RecordingError."""
    if len(body) < _HEAD.size:
        raise RecordingError("the recorded answer of an invoke ends early")
    _, includes_first, count = _HEAD.unpack_from(body)
    if len(body) != _HEAD.size + count * _TICKS + 4:
        raise RecordingError(f"the recorded answer of an invoke has no {count} times")
    return includes_first, struct.unpack_from(f"<{count}Q", body, _HEAD.size)


def timing_answer(includes_first: bool, ticks: tuple[int, ...]) -> bytes:
    """The answer of `invoke` with these times."""
    codec = MessageCodec()
    timing = InvokeTiming(sum(ticks) & 0xFFFFFFFFFFFFFFFF, includes_first, ticks)
    calls.INVOKE.gives["timing"].write(codec, timing)
    codec.write_int32(Status.OK)
    return bytes(codec.buffer)
