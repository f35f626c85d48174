"""The link to firmware that neuralSPOT's AutoDeploy has flashed: frames of eRPC 1.9.1."""

from __future__ import annotations

import struct
import time

from pytest_autodeploy.base.errors import LinkError
from pytest_autodeploy.rpc.framing import crc16
from pytest_autodeploy.rpc.link import GONE, Link
from pytest_autodeploy.rpc.messages import MESSAGE_HEAD_BYTES
from pytest_autodeploy.rpc.ports import READ_BYTES

MAX_BODY_BYTES = 4096
"""The message buffer of that firmware; it waits for ever for the rest of what it cannot take."""

_HEADER = struct.Struct("<HH")


class StockLink(Link):
    """A link whose frames are length and CRC of the body, then the body.

    Nothing in such a frame says where it starts, so what is not one is an error, not skipped.
    """

    def send(self, message: bytes | bytearray) -> None:
        """Send a body; what has arrived before it answers nothing."""
        self._forget()
        self._base_send(_HEADER.pack(len(message), crc16(message)) + message)

    def receive(self) -> bytearray:
        """The body of the next frame. Raises LinkError for what is none."""
        length, crc = _HEADER.unpack(self._base_receive(_HEADER.size))
        if not MESSAGE_HEAD_BYTES <= length <= MAX_BODY_BYTES:
            what = f"the answer is no frame of stock firmware: it announces {length} bytes"
            raise self.failure(LinkError, what)
        body: bytearray = self._base_receive(length)
        if crc16(body) != crc:
            raise self.failure(LinkError, "invalid message CRC in the answer")
        return body

    def _forget(self) -> None:
        self._ahead.clear()
        while self._waiting() and time.monotonic() < self._deadline:
            self._read(READ_BYTES)

    def _waiting(self) -> int:
        try:
            return int(self._port.in_waiting)
        except GONE as error:
            raise self._death(error) from error
