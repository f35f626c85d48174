"""Where in a rig file a key stands, which TOML's reader does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_TABLE = re.compile(r"\s*\[\[\s*board\s*\]\]")


class Lines:
    """The lines of a file whose boards are tables ``[[board]]``.

    A file that has its boards in another notation gets messages without lines.
    """

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines: Sequence[str] = text.splitlines()
        self._starts = [n for n, line in enumerate(self._lines) if _TABLE.match(line)]

    def of(self, number: int) -> int | None:
        """The line of a table, the first one of the file is 1."""
        return self._starts[number] + 1 if number < len(self._starts) else None

    def place(self, number: int, key: str) -> str:
        """The file, and the line of a key of a table, or of the table where it has no such key."""
        if number >= len(self._starts):
            return str(self._path)
        begin = self._starts[number]
        end = [*self._starts[number + 1 :], len(self._lines)][0]
        return self._named(self._find(key, begin + 1, end, begin))

    def top(self, key: str) -> str:
        """The file, and the line of a key outside of boards."""
        return self._named(self._find(key, 0, len(self._lines), 0))

    def _find(self, key: str, begin: int, end: int, default: int) -> int:
        pattern = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
        return next((n for n in range(begin, end) if pattern.match(self._lines[n])), default)

    def _named(self, number: int) -> str:
        return f"{self._path}, line {number + 1}"
