"""A byte stream as slow as a real link: so many bytes a second and so much latency each way."""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol

_QUANTUM_S = 0.001


class ByteStream(Protocol):
    """The board's end of a link, such as a pty or a socket."""

    def read(self, timeout_s: float) -> bytes:
        """What has arrived; empty when nothing does within ``timeout_s``."""

    def write(self, data: bytes) -> None:
        """Sends all of the bytes."""


class Throttle:
    """A stream that delays the bytes of ``stream`` in both directions.

    ``bytes_per_s`` is the speed of each direction, 0 for no bound; ``latency_ms`` is what a byte
    takes besides. `read` also sends what is due of the other direction, so it has to be called
    whenever there is nothing else to do.
    """

    def __init__(
        self, stream: ByteStream, *, bytes_per_s: float = 0, latency_ms: float = 0
    ) -> None:
        self._stream = stream
        self._arriving = _Direction(bytes_per_s, latency_ms / 1e3)
        self._leaving = _Direction(bytes_per_s, latency_ms / 1e3)

    def read(self, timeout_s: float) -> bytes:
        """What has come to the end of the slow link; empty after ``timeout_s`` without a byte."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._send_due()
            if data := self._arriving.take(time.monotonic()):
                return data
            until = min(deadline, self._arriving.due, self._leaving.due)
            data = self._stream.read(max(0.0, until - time.monotonic()))
            if data:
                self._arriving.put(data, time.monotonic())
            elif time.monotonic() >= deadline:
                self._send_due()  # what became due while this process did not run
                return b""

    def write(self, data: bytes) -> None:
        """Puts the bytes on the slow link."""
        self._leaving.put(data, time.monotonic())

    def flush(self) -> None:
        """Waits until all that was written has left."""
        while self._leaving.due != float("inf"):
            time.sleep(max(0.0, self._leaving.due - time.monotonic()))
            self._send_due()

    def _send_due(self) -> None:
        if data := self._leaving.take(time.monotonic()):
            self._stream.write(data)


class _Direction:
    """Bytes on their way, each piece with the time of its arrival."""

    def __init__(self, bytes_per_s: float, latency_s: float) -> None:
        self._bytes_per_s = bytes_per_s or float("inf")
        self._latency_s = latency_s
        self._piece = max(1, int(min(self._bytes_per_s * _QUANTUM_S, 1 << 20)))
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._free = 0.0

    @property
    def due(self) -> float:
        return self._pieces[0][0] if self._pieces else float("inf")

    def put(self, data: bytes, now: float) -> None:
        self._free = max(self._free, now)
        for start in range(0, len(data), self._piece):
            piece = data[start : start + self._piece]
            self._free += len(piece) / self._bytes_per_s
            self._pieces.append((self._free + self._latency_s, piece))

    def take(self, now: float) -> bytes:
        data = bytearray()
        while self.due <= now:
            data += self._pieces.popleft()[1]
        return bytes(data)
