"""Zip archives from outside, measured before anything is unpacked."""

from __future__ import annotations

import zipfile

MOST_BYTES = 2 << 30
"""All members of an archive together, unpacked. A .tflite file cannot be larger either."""

_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveRefused(ValueError):
    """An archive would unpack to too much, or cannot be unpacked within bounds."""


def check_archive(archive: zipfile.ZipFile, most_bytes: int = MOST_BYTES) -> None:
    """Raise ArchiveRefused when its directory tells of more than ``most_bytes``.

    A directory that tells of less than there is does not help an attacker: zipfile never gives more
    bytes of a member than the directory says. With bzip2 and LZMA it unpacks whole blocks before it
    cuts them off (Python 3.11 to 3.13, ``ZipExtFile._read1``), so members that are packed like that
    are refused; neither NumPy nor Keras writes such.
    """
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise ArchiveRefused(
            f"it would unpack to {_mb(total)}, which is more than the {_mb(most_bytes)} allowed"
        )
    for member in members:
        if member.compress_type not in _COMPRESSIONS:
            raise ArchiveRefused(f"{member.filename!r} is compressed, but not with deflate")


def _mb(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"
