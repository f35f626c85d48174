"""Zip archives that unpack to far more than they are, written byte by byte."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

BLOCK = 16 << 20
FULL = 4_100_000_000
"""What a bomb of 4 MB unpacks to."""


def write_bomb(
    path: Path, name: str, *, unpacked: int = FULL, told: int = FULL, shape: int = FULL
) -> Path:
    """An archive with one .npy member of ``unpacked`` zeros.

    Its directory tells of ``told`` bytes, the header of the array of ``shape``.
    """
    content = _deflated(_npy_header(shape), unpacked)
    sizes = struct.pack("<III", 0, len(content), told)  # no checksum
    about = struct.pack("<HHHHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21) + sizes
    names = struct.pack("<HH", len(name), 0)
    local = b"PK\x03\x04" + about + names + name.encode() + content
    central = b"PK\x01\x02" + struct.pack("<H", 20) + about + names
    central += struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


def _npy_header(size: int) -> bytes:
    stream = io.BytesIO()
    shape = {"descr": "|i1", "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(stream, shape)
    return stream.getvalue()


def _deflated(head: bytes, zeros: int) -> bytes:
    """The head and so many zeros, as raw deflate; a block is compressed once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(bytes(zeros % BLOCK)) + packer.flush()
    return start + block * (zeros // BLOCK) + rest
