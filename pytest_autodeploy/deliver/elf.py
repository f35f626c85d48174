"""The sections of a 32-bit ELF file: an object or a program for a Cortex-M."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.image.errors import BuildError

_IDENT = b"\x7fELF\x01\x01"  # 32 bits, little-endian
_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SECTION = struct.Struct("<10I")
_NO_BITS = 8
_WRITE, _ALLOCATE = 1, 2


@dataclass(frozen=True)
class ElfSection:
    """A section in memory; ``loaded`` when its bytes are part of the image."""

    name: str
    address: int
    bytes: int
    loaded: bool
    writable: bool = False


def read_sections(path: Path) -> list[ElfSection]:
    """The sections that take memory, in the order of the file. Raises BuildError: not such a file.

    Layout: System V ABI, "Object Files".
    """
    data = path.read_bytes()
    if not data.startswith(_IDENT) or len(data) < _HEADER.size:
        raise BuildError(
            f"{path} is not a 32-bit little-endian ELF file",
            hint="build it with a compiler for Arm: `autodeploy doctor` says which one is found",
        )
    try:
        return _sections(data)
    except (struct.error, IndexError, ValueError):
        raise BuildError(
            f"{path} is damaged: its section headers lead nowhere",
            hint="the link was cut short, as by a full disk: run again",
        ) from None


def _sections(data: bytes) -> list[ElfSection]:
    fields = _HEADER.unpack_from(data)
    start, count, names = fields[6], fields[12], fields[13]
    headers = [_SECTION.unpack_from(data, start + index * _SECTION.size) for index in range(count)]
    texts = headers[names][4]
    return [
        ElfSection(
            name=data[texts + name : data.index(0, texts + name)].decode(errors="replace"),
            address=address,
            bytes=size,
            loaded=kind != _NO_BITS,
            writable=bool(flags & _WRITE),
        )
        for name, kind, flags, address, _, size, *_ in headers
        if flags & _ALLOCATE
    ]
