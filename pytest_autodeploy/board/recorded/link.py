"""A link with a recording at its other end."""

from __future__ import annotations

from collections import deque

from erpc.codec import MessageInfo, MessageType
from erpc.transport import FramedTransport

from pytest_autodeploy.base.errors import BoardTimeout
from pytest_autodeploy.board.recorded.player import Player
from pytest_autodeploy.rpc.calls import CALLS
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import MAX_MESSAGE_BYTES, MESSAGE_HEAD_BYTES
from pytest_autodeploy.rpc.wire import MessageCodec


class RecordedLink(Link):
    """Answers what is sent from a recording; it has no port."""

    def __init__(self, player: Player, *, board: str) -> None:
        FramedTransport.__init__(self)  # not the Link's, which opens a port
        self.url = ""
        self.board = board
        self.max_message_bytes = MAX_MESSAGE_BYTES
        self._player = player
        self._replies: deque[bytearray] = deque()
        self._stray = bytearray()
        self._stray_bytes = 0
        self.begin("open", 0)

    def send(self, message: bytes | bytearray) -> None:
        """Look the answer up. Raises NotRecorded, or what the call ended in back then."""
        info = MessageCodec(message).start_read_message()
        call = CALLS[info.request]
        answer = self._player.answer(call, bytes(message[MESSAGE_HEAD_BYTES:]))
        codec = MessageCodec()
        codec.start_write_message(
            MessageInfo(MessageType.kReplyMessage, info.service, info.request, info.sequence)
        )
        self._replies.append(bytearray(codec.buffer) + answer)

    def receive(self) -> bytearray:
        """The next reply."""
        if not self._replies:
            raise self.failure(BoardTimeout, "no answer")
        return self._replies.popleft()

    def drain(self, limit_s: float) -> None:
        """Forget what was not received."""
        del limit_s
        self._replies.clear()

    def close(self) -> None:
        """There is nothing to close."""
