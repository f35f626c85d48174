"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_autodeploy.base.errors import ResultsError


def write_bytes(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path`` in one step and make its folders; raises ResultsError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=temporary_prefix(path))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ResultsError(
            f"cannot write {path}: {error.strerror or error}",
            hint="choose another folder",
        ) from error


def append_text(path: Path, text: str, name: str) -> None:
    """Add text to a file that others write too; ``name`` is what the error calls it.

    Raises ResultsError.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ResultsError(
            f"cannot write {name}, {path}: {error.strerror or error}",
            hint="it has to be a file that can be written, in a folder that exists",
        ) from error


def temporary_prefix(path: Path) -> str:
    """How the names of files start that become ``path``; only a killed process leaves one."""
    return f".{path.name}."
