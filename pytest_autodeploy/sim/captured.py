"""What TFLM, which is C++, writes to file descriptor 2: kept in a file, from where it is read."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

STDERR = 2


class CapturedStderr:
    """Sends file descriptor 2 to a file: to ``path``, or to one that goes with the process.

    After a crash the file at ``path`` holds the last words.
    """

    def __init__(self, path: Path | None = None) -> None:
        descriptor, name = (-1, str(path)) if path else _own_file()
        writer = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(writer, STDERR)
        os.close(writer)
        self._reader = os.open(name, os.O_RDONLY)
        self._read = os.lseek(self._reader, 0, os.SEEK_END)
        if path is None:
            os.close(descriptor)
            with contextlib.suppress(OSError):  # Windows keeps files that are open
                Path(name).unlink()

    def take(self) -> bytes:
        """What has been written since the last call."""
        size = os.fstat(self._reader).st_size
        os.lseek(self._reader, self._read, os.SEEK_SET)
        text = os.read(self._reader, size - self._read)
        self._read += len(text)
        return text

    def take_back(self) -> bytes:
        """As ``take``, and the file forgets it."""
        before = self._read
        text = self.take()
        os.ftruncate(STDERR, before)
        self._read = before
        return text


def _own_file() -> tuple[int, str]:
    import tempfile  # imports much, and a board that pytest starts has a log

    return tempfile.mkstemp(prefix="autodeploy-sim-")
