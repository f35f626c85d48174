"""A capture as it can be read without being changed: pyjls repairs what was not closed in place."""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.power.errors import CaptureError

HEADER = struct.Struct("<16sQ")
"""How a .jls file begins: its identification, and its length, which is 0 until it is closed.

Source: include/jls/format.h of jetperch/jls, struct jls_file_header_s.
"""


@dataclass(frozen=True)
class Readable:
    """Where a capture can be read: the file itself, or a copy in a ``folder`` that is to go."""

    path: Path
    cut_short: bool
    folder: Scratch | None = None

    def close(self) -> None:
        """Remove the copy."""
        if self.folder is not None:
            self.folder.close()


def readable(path: Path) -> Readable:
    """The capture, or a copy of one that was not closed or is cut short. Raises CaptureError."""
    try:
        if not _is_cut_short(path):
            return Readable(path, cut_short=False)
        folder = Scratch("capture")
        copy = shutil.copyfile(path, folder.path / path.name)
    except OSError as error:
        raise CaptureError(f"cannot read the capture {path}: {error.strerror}") from None
    return Readable(copy, cut_short=True, folder=folder)


def _is_cut_short(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(HEADER.size)
    if len(header) < HEADER.size or not header.startswith(b"jlsfmt"):
        return False  # no capture at all, which the reader tells
    _, length = HEADER.unpack(header)
    return bool(length != path.stat().st_size)
