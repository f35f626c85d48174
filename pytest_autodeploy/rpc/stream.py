"""The bytes of an open port, read as they arrive and written at once.

pySerial 3.5 reads an exact number of bytes and waits after each write until it could write again:
four system calls more for each call of a board, which is as much as a pty itself takes.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable
from typing import Any, Protocol

from pytest_autodeploy.rpc.ports import READ_BYTES, READ_TIMEOUT_S, SOCKET_MODULE


class Stream(Protocol):
    """What a link needs of a port."""

    def read(self, least: int) -> bytes:
        """What has arrived, which may be more than ``least``; empty after 50 ms without a byte.

        Raises OSError, or TypeError for a port that was closed meanwhile.
        """

    def write(self, data: memoryview) -> None:
        """Send all of the bytes. Raises SerialTimeoutException, and as ``read``."""


def stream_of(port: Any) -> Stream:
    """The fastest way to read and write an open port of pySerial."""
    connection = getattr(port, "_socket", None)
    plain = type(port).__module__ == SOCKET_MODULE  # the one of RFC 2217 has a protocol on it
    if plain and isinstance(connection, socket.socket):
        receive, send = connection.recv, connection.send
        return _Descriptor(port, connection.fileno(), receive, send)
    if os.name == "posix" and isinstance(getattr(port, "fd", None), int):
        return _Descriptor(
            port,
            port.fd,
            # The descriptor of now: pySerial has None in a port that was closed.
            lambda count: os.read(port.fd, count),
            lambda data: os.write(port.fd, data),
        )
    return _Port(port)


class _Descriptor:
    """A tty, a pty or a socket, none of which blocks."""

    def __init__(
        self,
        port: Any,
        descriptor: int,
        receive: Callable[[int], bytes],
        send: Callable[[memoryview], int],
    ) -> None:
        self._port = port
        self._receive = receive
        self._send = send
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def read(self, least: int) -> bytes:
        if not self._poll.poll(1e3 * READ_TIMEOUT_S):
            return b""
        try:
            data = self._receive(max(least, READ_BYTES))
        except BlockingIOError:
            return b""
        if not data:
            raise ConnectionError("it has been closed or unplugged")
        return data

    def write(self, data: memoryview) -> None:
        try:
            sent = self._send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self._port.write(data[sent:])


class _Port:
    """Any other port: one over RFC 2217, or of Windows."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def read(self, least: int) -> bytes:
        data: bytes = self._port.read(max(least, min(self._port.in_waiting, READ_BYTES)))
        return data

    def write(self, data: memoryview) -> None:
        self._port.write(data)
