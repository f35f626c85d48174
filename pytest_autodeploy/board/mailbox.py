"""The host's side of the mailbox that an emulated board shares: two rings in the board's memory.

QEMU's UARTs take about 80 us a byte, so that data goes through memory and the UART only rings.
``firmware/boards/cortex_m/mailbox.h`` has the layout; counts are of bytes since the start, modulo
2^32.
"""

from __future__ import annotations

import mmap
import tempfile
from typing import IO

_MAGIC = 0x584F424D
_RING_BYTES = 256 * 1024
_HEAD_BYTES = 4096
_TO_BOARD = _HEAD_BYTES
_TO_HOST = _HEAD_BYTES + _RING_BYTES
_BYTES = _TO_HOST + _RING_BYTES
_MASK = 0xFFFF_FFFF

# Words of the head.
_MAGIC_AT, _TO_BOARD_WRITTEN, _TO_BOARD_READ, _TO_HOST_WRITTEN, _TO_HOST_READ = range(5)


def shared_memory(ram_bytes: int) -> IO[bytes]:
    """A file without a name for the memory of a machine; it takes space only where it is used."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.truncate(ram_bytes)
    return file


class Mailbox:
    """The mailbox at the start of ``memory``; it is there from now on."""

    def __init__(self, memory: IO[bytes]) -> None:
        self._data = mmap.mmap(memory.fileno(), _BYTES)
        self._words = memoryview(self._data).cast("I")
        self._words[_MAGIC_AT] = _MAGIC

    @property
    def room(self) -> int:
        """Bytes that `put` can take now."""
        waiting = (self._words[_TO_BOARD_WRITTEN] - self._words[_TO_BOARD_READ]) & _MASK
        return _RING_BYTES - waiting

    def put(self, data: bytes) -> None:
        """Give bytes to the board, at most `room` of them."""
        written = self._words[_TO_BOARD_WRITTEN]
        at = written % _RING_BYTES
        first, rest = data[: _RING_BYTES - at], data[_RING_BYTES - at :]
        self._data[_TO_BOARD + at : _TO_BOARD + at + len(first)] = first
        self._data[_TO_BOARD : _TO_BOARD + len(rest)] = rest
        self._words[_TO_BOARD_WRITTEN] = (written + len(data)) & _MASK

    def take(self) -> bytes:
        """Bytes from the board: some of those that wait, empty when none does."""
        read = self._words[_TO_HOST_READ]
        at = read % _RING_BYTES
        waiting = (self._words[_TO_HOST_WRITTEN] - read) & _MASK
        count = min(waiting, _RING_BYTES - at)
        data = self._data[_TO_HOST + at : _TO_HOST + at + count]
        self._words[_TO_HOST_READ] = (read + count) & _MASK
        return data
