"""Files that replace those of an earlier run, and leave alone what is not theirs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from pytest_autodeploy.base.files import write_bytes

Files = dict[str, str | bytes]
"""Contents by relative path, with slashes."""


def replace_files(out: Path, files: Mapping[str, str | bytes], *, group: str) -> list[Path]:
    """Write files below ``out`` and remove those that an earlier call for ``group`` wrote.

    Names are relative paths with slashes. A list of them is kept in ``.autodeploy-<group>``; files
    that are not on it are not touched, and what is the same keeps its time. Raises ResultsError.
    """
    manifest = out / f".autodeploy-{group}"
    for stale in sorted(_list(manifest) - set(files)):
        _remove(out, out.joinpath(stale))
    for name, content in files.items():
        write_changed(out.joinpath(name), content)
    write_changed(manifest, "".join(f"{name}\n" for name in sorted(files)))
    return [out.joinpath(name) for name in files]


def write_changed(path: Path, content: str | bytes) -> None:
    """Write a file unless it has this content already. Raises ResultsError."""
    data = content if isinstance(content, bytes) else content.encode()
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    write_bytes(path, data)


def _list(manifest: Path) -> set[str]:
    """The names in a list, as far as they are inside of its folder."""
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    paths = [PurePosixPath(line) for line in lines if line]
    return {str(path) for path in paths if not path.is_absolute() and ".." not in path.parts}


def _remove(out: Path, path: Path) -> None:
    """Remove a file, and the folders that it leaves empty."""
    try:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == out:
                return
            folder.rmdir()
    except OSError:  # a folder that is not empty, or a file that is gone
        return
