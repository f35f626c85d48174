"""How tensors that exceed a message travel: the size of their pieces, and how many at a time."""

from __future__ import annotations

from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES
from pytest_autodeploy.rpc.messages import MESSAGE_HEAD_BYTES, Identity

_FRAME_BYTES = 16 * 1024
"""Larger frames gain no speed, and each has to arrive within its share of the deadline."""

_SMALL_FRAME_BYTES = 512
_WRITE_ENVELOPE_BYTES = FRAME_HEADER_BYTES + MESSAGE_HEAD_BYTES + 3 * 4
_READ_REQUEST_BYTES = FRAME_HEADER_BYTES + MESSAGE_HEAD_BYTES + 3 * 4
_READ_ENVELOPE_BYTES = FRAME_HEADER_BYTES + MESSAGE_HEAD_BYTES + 2 * 4
_ALIGNMENT = 16
_INFER_REQUEST_BYTES = MESSAGE_HEAD_BYTES + 4
_INFER_REPLY_BYTES = MESSAGE_HEAD_BYTES + 8 + 1 + 4 + 4
MOST_AHEAD = 4


def write_plan(identity: Identity) -> tuple[int, int]:
    """Bytes per piece and requests on their way: several small frames keep a window busy."""
    window = identity.window_bytes
    frame = min(
        _FRAME_BYTES,
        identity.max_message_bytes + FRAME_HEADER_BYTES,
        max(window // 4, _SMALL_FRAME_BYTES),
        window,
    )
    return _align(frame - _WRITE_ENVELOPE_BYTES), window // frame


def read_plan(identity: Identity) -> tuple[int, int]:
    """Bytes per piece and requests on their way: their replies fill about a window."""
    window = identity.window_bytes
    frame = min(_FRAME_BYTES, identity.max_message_bytes + FRAME_HEADER_BYTES)
    depth = min(window // _READ_REQUEST_BYTES, max(2, window // frame))
    return _align(frame - _READ_ENVELOPE_BYTES), depth


def infer_depth(identity: Identity, input_bytes: int, output_bytes: int) -> int:
    """How many inferences in one call each can be on their way; 0 when one does not fit so.

    More than one where the board keeps the next request while it infers.
    """
    request = input_bytes + _INFER_REQUEST_BYTES
    if request > identity.max_message_bytes or not outputs_fit(identity, output_bytes):
        return 0
    ahead = identity.window_bytes // (request + FRAME_HEADER_BYTES)
    return max(1, min(ahead, MOST_AHEAD))


def outputs_fit(identity: Identity, output_bytes: int) -> bool:
    """Whether the outputs come with the answer of `infer`."""
    return output_bytes + _INFER_REPLY_BYTES <= identity.max_message_bytes


def _align(size: int) -> int:
    return size - size % _ALIGNMENT
