"""The link to a board: eRPC's framed transport over a serial port or URL, with deadlines."""

from __future__ import annotations

import time
from typing import Any

from erpc.transport import FramedTransport
from serial import SerialTimeoutException

from pytest_autodeploy.base.errors import AutodeployError, BoardDied, BoardTimeout, LinkError
from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES, crc16, frame, parse_header
from pytest_autodeploy.rpc.messages import BOARD_SILENCE_S, MAX_MESSAGE_BYTES, MESSAGE_HEAD_BYTES
from pytest_autodeploy.rpc.ports import READ_BYTES, WRITE_BYTES, close_port, open_port
from pytest_autodeploy.rpc.stream import stream_of

_QUIET_S = 1.5 * BOARD_SILENCE_S
_STRAY_KEPT = 60
_SHORTEST_REPLY_BYTES = FRAME_HEADER_BYTES + MESSAGE_HEAD_BYTES + 4
GONE = (OSError, TypeError)
"""What pySerial raises when a port breaks, and when it is closed meanwhile."""


# Not erpc's SerialTransport (1.14): it waits for ever by default, and with a timeout a short read
# ends in a struct.error.
class Link(FramedTransport):  # type: ignore[misc]
    """A framed link to ``board`` at ``url``: a device, ``socket://`` or ``rfc2217://``.

    What is sent and received belongs to the call that `begin` named and fails with an error that
    names it: BoardTimeout, BoardDied, LinkError. Raises BoardUnavailable when the port cannot be
    opened. ``taken_from`` is a link whose open port it takes over.
    """

    def __init__(
        self, url: str, *, board: str, baudrate: int = 115200, taken_from: Link | None = None
    ) -> None:
        super().__init__()
        self.url = url
        self.board = board
        self.max_message_bytes = MAX_MESSAGE_BYTES
        self._port: Any = (
            taken_from._port if taken_from else open_port(url, board=board, baudrate=baudrate)
        )
        self._stream = stream_of(self._port)
        self._ahead = bytearray()
        self._stray = bytearray()
        self._stray_bytes = 0
        self.begin("open", 0)

    def begin(self, call: str, reply_s: float) -> None:
        """Starts a call; the first answer has to come within ``reply_s``."""
        self._call = call
        self._began = time.monotonic()
        self._stray.clear()
        self._stray_bytes = 0
        self.allow(reply_s)

    def allow(self, reply_s: float) -> None:
        """Moves the deadline to ``reply_s`` from now."""
        self._deadline = time.monotonic() + reply_s

    @property
    def elapsed_s(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self._began

    # eRPC's own (1.14) of both take locks and compute the CRC of a header three times.
    def send(self, message: bytes | bytearray) -> None:
        """Sends a body in a frame."""
        self._base_send(frame(message))

    def receive(self) -> bytearray:
        """The body of the next good frame; stray bytes before it are dropped."""
        if time.monotonic() >= self._deadline:
            raise self.failure(BoardTimeout, "no answer")
        length, crc = self._align()
        del self._ahead[:FRAME_HEADER_BYTES]
        body = self._base_receive(length)
        if crc16(body) != crc:
            raise self.failure(LinkError, "invalid message CRC in the answer")
        return body

    def drain(self, limit_s: float) -> None:
        """Reads until the board has been quiet for 150 ms, for at most ``limit_s``."""
        self._ahead.clear()
        now = quiet_since = time.monotonic()
        limit = now + limit_s
        while now < limit and now - quiet_since < _QUIET_S:
            data = self._read(READ_BYTES)
            now = time.monotonic()
            if data:
                quiet_since = now

    def close(self) -> None:
        """Closes the port; may be called twice."""
        close_port(self._port)

    def failure(self, kind: type[AutodeployError], what: str) -> AutodeployError:
        """An error of the present call."""
        return kind(
            f"{self._call}: {what}", board=self.board, seconds=self.elapsed_s, hint=self._hint()
        )

    def _hint(self) -> str | None:
        if not self._stray_bytes:
            return None
        return (
            f"the port gave {self._stray_bytes} bytes that belong to no answer, "
            f"the last of them {bytes(self._stray)!r}"
        )

    def _align(self) -> tuple[int, int]:
        """Length and CRC of the body whose header is the next that is ahead."""
        self._fill(_SHORTEST_REPLY_BYTES)
        while (header := self._header()) is None:
            self._drop(self._ahead[:1])
            del self._ahead[0]
            if time.monotonic() >= self._deadline:
                raise self.failure(BoardTimeout, "no answer")
            if len(self._ahead) < FRAME_HEADER_BYTES:
                self._fill(len(self._ahead) + 1)
        return header

    def _header(self) -> tuple[int, int] | None:
        if len(self._ahead) < FRAME_HEADER_BYTES:
            return None
        header = parse_header(self._ahead[:FRAME_HEADER_BYTES])
        return header if header is not None and header[0] <= self.max_message_bytes else None

    def _drop(self, data: bytearray) -> None:
        self._stray_bytes += len(data)
        self._stray += data
        del self._stray[:-_STRAY_KEPT]

    def _base_receive(self, count: int) -> bytearray:
        self._fill(count)
        data = self._ahead[:count]
        del self._ahead[:count]
        return data

    def _fill(self, count: int) -> None:
        """Have at least ``count`` bytes ahead."""
        while len(self._ahead) < count:
            self._ahead += self._read(count - len(self._ahead))
            if len(self._ahead) < count and time.monotonic() >= self._deadline:
                self._drop(self._ahead)
                what = "no whole answer" if self._ahead else "no answer"
                raise self.failure(BoardTimeout, what)

    def _read(self, count: int) -> bytes:
        try:
            data = self._stream.read(count)
        except GONE as error:
            raise self._death(error) from error
        return data

    def _death(self, error: Exception) -> AutodeployError:
        return self.failure(BoardDied, f"the board went away ({error})")

    def _base_send(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        for start in range(0, len(view), WRITE_BYTES):
            try:
                self._stream.write(view[start : start + WRITE_BYTES])
            except SerialTimeoutException as error:
                raise self.failure(BoardTimeout, "the board takes no more bytes") from error
            except GONE as error:
                raise self._death(error) from error
            if time.monotonic() >= self._deadline:
                raise self.failure(BoardTimeout, "the board takes its bytes too slowly")
