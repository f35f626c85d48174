"""Keys of builds: a hash over the content of everything that goes in."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_BUILD_ID_LETTERS = 16


def build_key(parts: Mapping[str, object]) -> str:
    """SHA-256 in hex over named parts of plain data; their order does not matter."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def build_id(key: str) -> str:
    """The short form of a key, by which firmware identifies itself."""
    return key[:_BUILD_ID_LETTERS]


def content_digest(root: Path, *suffixes: str) -> str:
    """SHA-256 over names and contents of the files in a folder, or of one file.

    ``suffixes`` select the files by the end of their names; without any, all files count.
    """
    digest = hashlib.sha256()
    for path in _files(root):
        if not suffixes or path.name.endswith(suffixes):
            data = path.read_bytes()
            name = path.relative_to(root).as_posix()
            digest.update(f"{len(name)}:{name}:{len(data)}:".encode())
            digest.update(data)
    return digest.hexdigest()


def stat_digest(root: Path, *folders: str) -> str:
    """SHA-256 over names, sizes and times of the files in some folders of a tree.

    For trees that are too large to read: no edit of a file leaves all of these as they are.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for path in _files(root / folder):
            stat = path.stat()
            name = path.relative_to(root).as_posix()
            digest.update(f"{name}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__"))
        yield from (Path(folder, name) for name in sorted(names))
