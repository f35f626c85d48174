"""Temporary folders of this run, and the removal of those that killed runs have left."""

from __future__ import annotations

import functools
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pytest_autodeploy.base.closable import Closing

if sys.platform != "win32":
    import fcntl

LOCK = ".autodeploy-lock"
NAMES = re.compile(r"autodeploy-[a-z]+-[a-z0-9_]{8}")
"""Of ours: the ending is mkdtemp's."""

BEING_MADE_S = 3600
"""Until then an empty folder may be one that has not got its lock yet."""


class Scratch(Closing):
    """A new temporary folder for this user alone, at ``path``; ``close`` removes it.

    A lock in it, which ends with the process, tells later runs that it is in use. What killed runs
    have left is removed before the first one of a process is made.
    """

    def __init__(self, name: str) -> None:
        _sweep_once(tempfile.gettempdir())
        self._folder, self._lock = _made(f"autodeploy-{name}-")
        self.path = Path(self._folder.name)

    def close(self) -> None:
        """Remove the folder; may be called twice."""
        self._folder.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(parent: Path) -> None:
    """Remove the folders of this user's runs that were killed."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if NAMES.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_left_over(entry)


@functools.cache
def _sweep_once(parent: str) -> None:
    sweep(Path(parent))


def _made(prefix: str) -> tuple[tempfile.TemporaryDirectory[str], int | None]:
    """A folder, and the descriptor that holds its lock."""
    while True:
        folder = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
        if sys.platform == "win32":
            return folder, None
        path = Path(folder.name, LOCK)
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            if _is_ours(descriptor) and path.exists():
                return folder, descriptor
            os.close(descriptor)
        folder.cleanup()  # a run that sweeps was faster and took it for a left-over


def _is_ours(descriptor: int) -> bool:
    try:
        return _lock(descriptor)
    except OSError:  # a file system without locks: nobody sweeps it
        return True


def _remove_left_over(entry: os.DirEntry[str]) -> None:
    """Remove a folder of this user whose lock no process holds. Raises OSError if one does."""
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    try:
        descriptor = os.open(Path(entry.path, LOCK), os.O_WRONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - found.st_mtime > BEING_MADE_S:
            Path(entry.path).rmdir()  # which spares what is not empty, hence not ours
        return
    try:
        if _lock(descriptor):
            shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether the lock could be had. Raises OSError where there are no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
