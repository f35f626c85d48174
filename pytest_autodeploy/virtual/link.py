"""The serial line of a virtual board, on a TCP port, one host at a time."""

from __future__ import annotations

import contextlib
import select
import socket
from collections import deque
from collections.abc import Callable

_HELD_BYTES = 64 * 1024
"""What waits for the board; beyond that the host is held back."""

_FLUSH_BYTES = 4096


class SerialLink:
    """Bytes between a UART and whoever is connected; ``arrived`` is called when some came.

    What the board sends while nobody is connected is lost, as on a serial line.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._host: socket.socket | None = None
        self._in: deque[int] = deque()
        self._out = bytearray()
        self.arrived: Callable[[], None] = lambda: None
        self.heard: Callable[[], None] = lambda: None
        self._orders: int | None = None

    @property
    def url(self) -> str:
        """Where it can be reached."""
        return f"socket://127.0.0.1:{self._listener.getsockname()[1]}"

    def watch(self, descriptor: int, heard: Callable[[], None]) -> None:
        """Wait for a descriptor, too; ``heard`` is called when it can be read."""
        self._orders, self.heard = descriptor, heard

    @property
    def waiting(self) -> bool:
        """Whether there is a byte for the board."""
        return bool(self._in)

    def take_byte(self) -> int:
        """The next byte for the board, 0 when there is none."""
        return self._in.popleft() if self._in else 0

    def send_byte(self, byte: int) -> None:
        """A byte from the board."""
        self._out.append(byte)
        if len(self._out) >= _FLUSH_BYTES:
            self._flush()

    def poll(self, timeout_s: float = 0.0) -> bool:
        """Move what there is, waiting for something at most so long; says whether bytes came."""
        self._flush()
        sources: list[socket.socket | int] = [self._listener]
        if self._orders is not None:
            sources.append(self._orders)
        if self._host is not None and len(self._in) < _HELD_BYTES:
            sources.append(self._host)
        ready, _, _ = select.select(sources, [], [], timeout_s)
        if self._orders in ready:
            self.heard()
        if self._listener in ready:
            self._accept()
        return self._host in ready and self._receive()

    def close(self) -> None:
        """Hang up."""
        self._flush()
        self._drop()
        self._listener.close()

    def _accept(self) -> None:
        self._drop()
        self._host, _ = self._listener.accept()
        self._host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._in.clear()

    def _receive(self) -> bool:
        assert self._host is not None
        data = b""
        with contextlib.suppress(OSError):
            data = self._host.recv(_HELD_BYTES)
        if not data:
            self._drop()
            return False
        self._in.extend(data)
        self.arrived()
        return True

    def _flush(self) -> None:
        if self._out and self._host is not None:
            try:
                self._host.sendall(self._out)
            except OSError:
                self._drop()
        self._out.clear()

    def _drop(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None
