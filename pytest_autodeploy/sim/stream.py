"""The board's end of the link: a pseudo-terminal, or a TCP port for one client at a time."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time

CHUNK_BYTES = 65536


class PtyStream:
    """A pseudo-terminal; ``url`` is the device that the host opens."""

    def __init__(self) -> None:
        if sys.platform == "win32":
            raise OSError("Windows has no pseudo-terminals")
        import tty

        self._board, self._host = os.openpty()  # an open host end: hosts may come and go
        tty.setraw(self._host)
        os.set_blocking(self._board, False)
        self.url = os.ttyname(self._host)
        self._ahead = bytearray()

    def read(self, timeout_s: float) -> bytes:
        """What has arrived; empty when nothing does within ``timeout_s``."""
        if not self._ahead and select.select([self._board], [], [], timeout_s)[0]:
            self._receive()
        return _take(self._ahead)

    def write(self, data: bytes) -> None:
        """Send all of the bytes, and meanwhile keep what arrives."""
        view = memoryview(data)
        while view:
            readable, writable, _ = select.select([self._board], [self._board], [])
            if readable:
                self._receive()
            if writable:
                view = view[os.write(self._board, view) :]

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._ahead += os.read(self._board, CHUNK_BYTES)


class TcpStream:
    """A TCP server for one client at a time; the next one is served when it has left."""

    def __init__(self, host: str, port: int) -> None:
        self._server = socket.create_server((host, port))
        self._client: socket.socket | None = None
        self._ahead = bytearray()
        self.url = "socket://{}:{}".format(*self._server.getsockname()[:2])

    def read(self, timeout_s: float) -> bytes:
        """What has arrived; empty when nothing does within ``timeout_s``."""
        deadline = time.monotonic() + timeout_s
        while not self._ahead:
            source = self._client or self._server
            if not select.select([source], [], [], max(0.0, deadline - time.monotonic()))[0]:
                break
            if self._client is None:
                self._accept()
            else:
                self._receive(self._client)
        return _take(self._ahead)

    def write(self, data: bytes) -> None:
        """Send all of the bytes, and meanwhile keep what arrives; lost when there is no client."""
        view = memoryview(data)
        while view and self._client is not None:
            client = self._client
            readable, writable, _ = select.select([client], [client], [])
            if readable:
                self._receive(client)
            elif writable:
                view = view[self._send(client, view) :]

    def _accept(self) -> None:
        self._client, _ = self._server.accept()
        self._client.setblocking(False)
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _receive(self, client: socket.socket) -> None:
        try:
            data = client.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._ahead += data
        if not data:
            self._leave(client)

    def _send(self, client: socket.socket, view: memoryview) -> int:
        try:
            return client.send(view)
        except BlockingIOError:
            return 0
        except OSError:
            self._leave(client)
            return 0

    def _leave(self, client: socket.socket) -> None:
        client.close()
        self._client = None
        self._ahead.clear()


def _take(buffer: bytearray) -> bytes:
    data = bytes(buffer)
    buffer.clear()
    return data
