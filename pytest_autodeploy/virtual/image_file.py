"""Images that are executed: ELF files such as ``.axf``, and flat binaries."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

_ELF = b"\x7fELF"


class ImageError(Exception):
    """A file is no image for a machine."""


@dataclass(frozen=True)
class ImageFile:
    """The pieces of an image by their load addresses, and the SHA-256 of the file in hex."""

    pieces: tuple[tuple[int, bytes], ...]
    sha256: str


def read_image(path: Path, base: int) -> ImageFile:
    """Read an ELF file, or a flat binary that goes to ``base``. Raises ImageError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror}") from None
    if not data:
        raise ImageError(f"{path} is empty")
    pieces = _elf_pieces(path) if data.startswith(_ELF) else ((base, data),)
    return ImageFile(pieces, hashlib.sha256(data).hexdigest())


def _elf_pieces(path: Path) -> tuple[tuple[int, bytes], ...]:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf.get_machine_arch() != "ARM":
                raise ImageError(f"{path} is for {elf.get_machine_arch()}, not for an Arm core")
            loaded = [each for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
            return tuple((each["p_paddr"], each.data()) for each in loaded if each["p_filesz"])
    except (ELFError, ValueError) as error:
        raise ImageError(f"{path} is damaged: {error}") from None
