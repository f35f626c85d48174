"""Leases where there are no abstract sockets: locked files, each with a note on its owner."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, take_lock
from pytest_autodeploy.base.lease_holder import Holder, LeaseUnusable, command_line, short
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.base.private_folder import NotPrivate, private_folder

if TYPE_CHECKING:
    from pathlib import Path

    import filelock


class FileLease:
    """A lease of this process."""

    def __init__(self, identity: str, lock: filelock.BaseFileLock, note: Path) -> None:
        self.identity = identity
        self._lock = lock
        self._note = note

    def release(self) -> None:
        """Give it up; others find out when they try again."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._note.unlink()
            self._lock.release()


def try_file(identity: str) -> FileLease | None:
    """The lease, None while another process of this user has it. Raises LeaseUnusable."""
    try:
        path = _path(identity)
        lock = take_lock(path, 0)
    except LockHeld:
        return None
    except (LockUnusable, NotPrivate) as error:
        raise LeaseUnusable(f"cannot lock {identity}: {error.what}", hint=error.hint) from error
    note = path.with_suffix(".json")
    facts = {"pid": os.getpid(), "since": time.time(), "command": command_line()}
    with suppress(OSError):
        note.write_text(json.dumps(facts), encoding="utf-8")
    return FileLease(identity, lock, note)


def file_holder(identity: str) -> Holder | None:
    """Who has a lease now; None when nobody has."""
    try:
        path = _path(identity)
        take_lock(path, 0).release()
    except LockHeld:
        return _noted(path.with_suffix(".json"))
    except (LockUnusable, NotPrivate):
        return None
    return None


def _path(identity: str) -> Path:
    return private_folder() / f"{file_name(identity)}.lock"


def _noted(path: Path) -> Holder:
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        pid, since = int(note["pid"]), float(note["since"])
        return Holder(pid, "", since, short(str(note["command"])), pid == os.getpid())
    except (OSError, ValueError, LookupError, TypeError):
        return Holder()
