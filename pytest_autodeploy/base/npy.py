"""Reading .npy and .npz files from outside: within bounds, and no objects."""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from pytest_autodeploy.base.archive import check_archive

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_SUFFIX = ".npy"


@dataclass(frozen=True)
class Npz:
    """An open .npz file."""

    archive: zipfile.ZipFile

    @property
    def names(self) -> list[str]:
        """The names of its arrays, without ``.npy``."""
        return [name.removesuffix(_SUFFIX) for name in self.archive.namelist()]

    def read(self, name: str) -> NDArray[Any]:
        """One of the arrays. Raises ValueError for one that is damaged or holds objects."""
        member = self.archive.infolist()[self.names.index(name)]
        try:
            with self.archive.open(member) as stream:
                return _read_array(stream, member.file_size)
        except (ValueError, zlib.error, RuntimeError, struct.error) as error:  # or a password
            raise ValueError(f"{name!r}: {error}") from None

    def read_all(self) -> dict[str, NDArray[Any]]:
        """Every array by its name. Raises ValueError."""
        return {name: self.read(name) for name in self.names}


@contextmanager
def open_npz(path: Path) -> Iterator[Npz]:
    """Open a file after it was measured.

    Raises ValueError (ArchiveRefused for one that would unpack to too much), BadZipFile, OSError.
    """
    with path.open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError("it is no archive of arrays")
        with _archive(stream) as archive:
            check_archive(archive)
            yield Npz(archive)


def _archive(stream: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except (NotImplementedError, OverflowError, struct.error) as error:  # of a damaged directory
        raise ValueError(str(error)) from None


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an .npy file. Raises ValueError, OSError."""
    with path.open("rb") as stream:
        return _read_array(stream, os.fstat(stream.fileno()).st_size)


def _read_array(stream: IO[bytes], size: int) -> NDArray[Any]:
    """The array in a stream of ``size`` bytes.

    NumPy (2.4, ``read_array``) asks for all the memory that the header tells of before it looks
    whether so much is there; hence the header is looked at first.
    """
    import numpy as np

    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of the format holds no plain numbers")
    read_header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    try:
        shape, _, dtype = read_header(stream)
    except (tokenize.TokenError, SyntaxError, TypeError, OverflowError, RecursionError) as error:
        # NumPy reads the header as Python's words; from some damage these come through.
        raise ValueError(f"its header is damaged: {error}") from None
    told, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if told != there and not dtype.hasobject:  # which are refused below, whatever their size
        raise ValueError(f"its header tells of {told} bytes, but there are {there}")
    stream.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array
