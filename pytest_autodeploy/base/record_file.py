"""A file of records that is written as it goes, so that what a kill leaves can be read.

It begins with a magic number, whose line ends show a copy that was made as text, and a version. A
record is its length, its type, its CRC-32 (over length, type and payload) and its payload.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError, ResultsError

MAGIC = b"autodeploy\r\n\x1a\n\0\0"
VERSION = 1
SUFFIX = ".adrec"
MOST_RECORD_BYTES = 1 << 20
MOST_FILE_BYTES = 64 << 20
"""No file is written beyond it, and none beyond it is read."""

_START = struct.Struct(f"<{len(MAGIC)}sI")
_HEAD = struct.Struct("<IBI")
_CHECKED = struct.Struct("<IB")


class RecordingError(AutodeployError):
    """A recording cannot be read: it is none, damaged, or of another version."""

    usual_hint = "record it anew: pytest ... --evb-record DIR"


@dataclass(frozen=True)
class Record:
    """One record: its type and what it holds."""

    type: int
    payload: bytes


class RecordWriter:
    """Writes records to a new file at ``path``, in place of one that is there.

    Each is one write to the file, so that nothing of it is lost when this process is killed.
    Raises ResultsError.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_FILE_BYTES) -> None:
        self.path = path
        self.size = 0
        self._most = most_bytes
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, flags, 0o644)
        except OSError as error:
            raise self._failure(error) from None
        self._write(_START.pack(MAGIC, VERSION))

    def fits(self, payload_bytes: int) -> bool:
        """Whether a record may still be written."""
        room = self._most - self.size - _HEAD.size
        return payload_bytes <= min(room, MOST_RECORD_BYTES)

    def add(self, kind: int, payload: bytes) -> None:
        """Write one record."""
        crc = zlib.crc32(payload, zlib.crc32(_CHECKED.pack(len(payload), kind)))
        self._write(_HEAD.pack(len(payload), kind, crc) + payload)

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
        except OSError as error:
            raise self._failure(error) from None
        if written != len(data):  # the disk is full
            raise self._failure(OSError("only a part was written"))
        self.size += len(data)

    def _failure(self, error: OSError) -> ResultsError:
        return ResultsError(
            f"cannot write the recording {self.path}: {error.strerror or error}",
            hint="--evb-record takes a folder that can be written to",
        )


def read_records(path: Path) -> Iterator[Record]:
    """The whole records of a file; what a kill left of another one is left out.

    Raises RecordingError for what is no such file, is damaged, too large, or of another version.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise RecordingError(f"{path} is no file", hint="--evb recorded:FILE takes one file")
        if size > MOST_FILE_BYTES:
            raise RecordingError(
                f"{path} has {size} bytes; no recording has more than {MOST_FILE_BYTES}"
            )
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES)
    except OSError as error:
        raise RecordingError(
            f"cannot read the recording {path}: {error.strerror or error}"
        ) from None
    _check_start(path, content)
    yield from _records(path, content)


def _check_start(path: Path, content: bytes) -> None:
    if len(content) < _START.size or not content.startswith(MAGIC):
        as_text = content.startswith(MAGIC[:10])
        raise RecordingError(
            f"{path} is no recording{' any more: its start was changed' if as_text else ''}",
            hint="copy it as a binary file" if as_text else None,
        )
    _, version = _START.unpack_from(content)
    if version != VERSION:
        raise RecordingError(
            f"{path} is a recording of version {version}; this pytest-autodeploy reads {VERSION}",
            hint="use the pytest-autodeploy that wrote it",
        )


def _records(path: Path, content: bytes) -> Iterator[Record]:
    position = _START.size
    while position + _HEAD.size <= len(content):
        length, kind, crc = _HEAD.unpack_from(content, position)
        if length > MOST_RECORD_BYTES:
            raise RecordingError(f"{path} is damaged at byte {position}: a record too long")
        start = position + _HEAD.size
        if start + length > len(content):
            return
        payload = content[start : start + length]
        if zlib.crc32(payload, zlib.crc32(_CHECKED.pack(length, kind))) != crc:
            raise RecordingError(f"{path} is damaged at byte {position}: its check sum is wrong")
        yield Record(kind, payload)
        position = start + length
