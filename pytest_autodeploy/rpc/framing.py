"""Frames of eRPC 1.12 and newer: CRC of the header, length and CRC of the body, then the body."""

from __future__ import annotations

import binascii
import struct

from pytest_autodeploy.rpc.messages import MAX_MESSAGE_BYTES, MESSAGE_HEAD_BYTES

FRAME_HEADER_BYTES = 6
_CRC_START = 0xEF4A
_HEADER = struct.Struct("<HHH")


def crc16(data: bytes | bytearray | memoryview) -> int:
    """The CRC-16 of eRPC: polynomial 0x1021, start 0xEF4A, most significant bit first."""
    return binascii.crc_hqx(data, _CRC_START)


def frame(body: bytes | bytearray) -> bytes:
    """A whole frame around a message body."""
    crc = crc16(body)
    return _HEADER.pack(_header_crc(len(body), crc), len(body), crc) + body


def parse_header(header: bytes | bytearray) -> tuple[int, int] | None:
    """Length and CRC of the body that a header of 6 bytes announces; None when it is no header."""
    crc, length, body_crc = _HEADER.unpack(header)
    if length < MESSAGE_HEAD_BYTES or crc != _header_crc(length, body_crc):
        return None
    return length, body_crc


# Before eRPC 1.12, as in neuralSPOT (1.9.1), headers have 4 bytes and no CRC: a peer of that age
# drops our frames without an answer.
def _header_crc(length: int, body_crc: int) -> int:
    return (crc16(struct.pack("<H", length)) + crc16(struct.pack("<H", body_crc))) & 0xFFFF


class FrameScanner:
    """Finds the good frames in a stream of bytes; what lies between them is dropped."""

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_message_bytes = max_message_bytes
        self._buffer = bytearray()
        self._skip = 0

    @property
    def pending(self) -> bool:
        """Whether an unfinished frame waits for more bytes, or for `idle`."""
        return bool(self._buffer or self._skip)

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies of the frames that are complete with these bytes."""
        self._buffer += data
        return self._scan()

    def idle(self) -> list[bytes]:
        """Gives up the unfinished frame; to be called after 100 ms of silence.

        Returns the bodies of good frames that a broken one had swallowed.
        """
        self._skip = 0
        bodies: list[bytes] = []
        while self._buffer:
            del self._buffer[0]
            bodies += self._scan()
        return bodies

    def _scan(self) -> list[bytes]:
        bodies: list[bytes] = []
        buffer = self._buffer
        while True:
            if self._skip:
                skipped = min(self._skip, len(buffer))
                del buffer[:skipped]
                self._skip -= skipped
            if len(buffer) < FRAME_HEADER_BYTES:
                return bodies
            header = parse_header(buffer[:FRAME_HEADER_BYTES])
            if header is None:
                del buffer[0]
                continue
            length, crc = header
            end = FRAME_HEADER_BYTES + length
            if length > self._max_message_bytes:
                self._skip = end
            elif len(buffer) < end:
                return bodies
            elif crc16(body := bytes(buffer[FRAME_HEADER_BYTES:end])) == crc:
                bodies.append(body)
                del buffer[:end]
            else:
                del buffer[0]
