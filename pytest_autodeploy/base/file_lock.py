"""Locks between processes: a file that one of them holds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.progress import show_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import filelock


class LockHeld(AutodeployError):
    """Another process did not give up the lock in time."""


class LockUnusable(AutodeployError):
    """The file of the lock cannot be made or opened; a symbolic link is not followed."""


def take_lock(path: Path, timeout_s: float, wait: str = "") -> filelock.BaseFileLock:
    """Hold the lock until its ``release``. Raises LockHeld, LockUnusable.

    ``wait`` is what progress shows meanwhile.

    filelock opens with O_NOFOLLOW since 3.20.1; older ones empty the file that a symbolic link at
    ``path`` leads to (CVE-2025-68146).
    """
    import filelock

    lock = filelock.FileLock(path, timeout=timeout_s, thread_local=False)
    try:
        with show_task(wait or f"waiting for another process, which holds {path.name}"):
            lock.acquire()
    except filelock.Timeout:
        raise LockHeld(f"another process holds {path}", seconds=timeout_s) from None
    except (OSError, NotImplementedError) as error:  # the latter: a file system without flock
        reason = getattr(error, "strerror", None) or error
        raise LockUnusable(
            f"cannot lock {path}: {reason}", hint=f"look at {path}, and remove it"
        ) from None
    return lock


@contextmanager
def locked_file(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock within the context. Raises LockHeld, LockUnusable."""
    lock = take_lock(path, timeout_s)
    try:
        yield
    finally:
        lock.release()
