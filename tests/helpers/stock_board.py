"""A board with stock firmware behind a pty or a TCP port: frames and messages of eRPC 1.9.1."""

from __future__ import annotations

import binascii
import os
import socket
import struct
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.helpers.rpc_board import Descriptor
from tests.helpers.stock_firmware import Crash, Reply, StockFirmware

_BUFFER_BYTES = 4096
Tamper = Callable[[bytes], bytes]


def crc16(data: bytes) -> int:
    """Polynomial 0x1021, as eRPC 1.9.1 has it; tests hold it against frames that it has sent."""
    return binascii.crc_hqx(data, 0xEF4A)


@dataclass
class StockBoard:
    """The firmware's end of the link; ``tampers`` change one reply's frame each."""

    firmware: StockFirmware
    url: str = ""
    tampers: list[Tamper] = field(default_factory=list)
    refused: int = 0
    """Frames that its parser gave up."""

    def serve(self, stream: Descriptor, stop: threading.Event) -> None:
        """Read frames as the firmware does: a header, then as many bytes as it announces."""
        ahead = bytearray()

        def take(count: int) -> bytes:
            while len(ahead) < count:
                if stop.is_set():
                    raise OSError("stopped")
                ahead.extend(stream.read(0.02))
            data = bytes(ahead[:count])
            del ahead[:count]
            return data

        with suppress(OSError, ValueError, Crash):
            while True:
                length, crc = struct.unpack("<HH", take(4))
                if not 0 < length <= _BUFFER_BYTES:
                    self.refused += 1
                    continue
                body = take(length)
                reply = self.answer(body) if crc16(body) == crc else None
                if reply is None:
                    self.refused += 1
                    continue
                frame = struct.pack("<HH", len(reply), crc16(reply)) + reply
                frame = self.tampers.pop(0)(frame) if self.tampers else frame
                stream.write(frame)

    def answer(self, body: bytes) -> bytes | None:
        """The reply to a message; None for what eRPC drops without a word."""
        if len(body) < 8:
            return None
        head, sequence = struct.unpack_from("<II", body)
        method = head >> 8 & 0xFF
        if head >> 24 != 1 or (head >> 16 & 0xFF) != 2 or head & 0xFF or not 1 <= method <= 3:
            return None
        reply = struct.pack("<II", 1 << 24 | 2 << 16 | method << 8 | 2, sequence)
        if method == 2:
            return reply + _block(self.firmware.fetch())
        block = _read(body[8:])
        if block is None:
            return None
        if method == 1:
            return reply + struct.pack("<i", self.firmware.send(*block).status)
        return reply + _block(self.firmware.compute(*block))


def _read(data: bytes) -> tuple[int, bytes] | None:
    """The command and the bytes of a block."""
    try:
        (size,) = struct.unpack_from("<8xI", data)
        command, length = struct.unpack_from("<iI", data, 12 + size)
    except struct.error:
        return None
    start = 20 + size
    return (command, data[start:]) if len(data) == start + length else None


def _block(reply: Reply) -> bytes:
    text = reply.description.encode()
    head = struct.pack("<IiI", len(reply.data), 0, len(text)) + text
    return (
        head
        + struct.pack("<iI", reply.command, len(reply.data))
        + reply.data
        + struct.pack("<i", reply.status)
    )


@contextmanager
def stock_tcp(firmware: StockFirmware) -> Iterator[StockBoard]:
    """A board behind a TCP port, for one host after another."""
    stop = threading.Event()
    board = StockBoard(firmware)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        board.url = f"socket://127.0.0.1:{listener.getsockname()[1]}"

        def accept() -> None:
            while not stop.is_set():
                with suppress(TimeoutError):
                    connection, _ = listener.accept()
                    with connection:
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        board.serve(_Connection(connection.fileno()), stop)

        with _running(accept, stop):
            yield board


class _Connection(Descriptor):
    """A host that goes away ends what it began."""

    def read(self, timeout_s: float) -> bytes:
        import select

        if not select.select([self.descriptor], [], [], timeout_s)[0]:
            return b""
        data = os.read(self.descriptor, 65536)
        if not data:
            raise OSError("the host has gone")
        return data


@contextmanager
def stock_pty(firmware: StockFirmware) -> Iterator[StockBoard]:
    """A board behind a pseudo-terminal, whose parser outlives its hosts as on a board."""
    master, slave = os.openpty()
    tty.setraw(slave)
    stop = threading.Event()
    board = StockBoard(firmware, os.ttyname(slave))
    try:
        with _running(lambda: board.serve(Descriptor(master), stop), stop):
            yield board
    finally:
        os.close(master)
        os.close(slave)


@contextmanager
def _running(target: Callable[[], None], stop: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
