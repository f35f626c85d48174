"""The ring of a board's log."""

from __future__ import annotations


class Log:
    """The ring of a board's log; cursors count bytes since the start."""

    def __init__(self, capacity: int = 8192) -> None:
        self._capacity = capacity
        self._kept = bytearray()
        self._end = 0

    @property
    def end(self) -> int:
        """The cursor at which the log ends now."""
        return self._end

    def write(self, line: str) -> None:
        """Adds a line; the oldest bytes leave the ring."""
        data = f"{line.rstrip()}\n".encode()
        self._end += len(data)
        self._kept += data
        del self._kept[: -self._capacity]

    def read(self, cursor: int, limit: int) -> tuple[int, bytes]:
        """The cursor to go on with, and at most ``limit`` bytes from ``cursor`` on.

        A cursor that is not in the ring starts at the oldest byte.
        """
        oldest = self._end - len(self._kept)
        if not oldest <= cursor <= self._end:
            cursor = oldest
        text = bytes(self._kept[cursor - oldest :][:limit])
        return cursor + len(text), text
