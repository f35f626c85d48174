"""A board belongs to one run at a time: locks between processes, by what the board is."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, take_lock
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.base.private_folder import NotPrivate, private_folder

if TYPE_CHECKING:
    import filelock

LOCK_TIMEOUT_S = 5.0
_COMMAND_LENGTH = 120


# A lock, and not xdist's groups of tests: with pytest 9.2, xdist 3.8 spreads a group over all
# workers without a word (pytest-xdist issue 1386).
class BoardLocks:
    """The locks that this run holds on ``board``, each waited for up to ``timeout_s`` seconds."""

    def __init__(self, board: str, timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self._board = board
        self._timeout_s = timeout_s
        self._held: dict[str, filelock.BaseFileLock] = {}

    def hold(self, identity: str) -> None:
        """Lock what ``identity`` names, such as ``probe 1160002276``; nothing if it is held.

        Raises BoardUnavailable that names the process that has it, when that can be known.
        """
        if identity in self._held:
            return
        try:
            path = private_folder() / f"{file_name(identity)}.lock"
            wait = f"waiting for {identity}, which another run uses"
            self._held[identity] = take_lock(path, self._timeout_s, wait)
        except LockHeld:
            raise BoardUnavailable(
                f"{identity} is used by another run{_holder(path)}",
                board=self._board,
                seconds=self._timeout_s,
                hint="wait for it to end, or use another board",
            ) from None
        except (LockUnusable, NotPrivate) as error:
            raise BoardUnavailable(
                f"cannot lock {identity}: {error.what}", board=self._board, hint=error.hint
            ) from error
        _sign(path)

    def release(self) -> None:
        """Give up all locks; may be called twice."""
        while self._held:
            _, lock = self._held.popitem()
            with suppress(OSError):
                _note(Path(lock.lock_file)).unlink()
            lock.release()


def _note(path: Path) -> Path:
    return path.with_suffix(".json")


def _sign(path: Path) -> None:
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    with suppress(OSError):
        note = json.dumps({"pid": os.getpid(), "command": command[:_COMMAND_LENGTH]})
        _note(path).write_text(note, encoding="utf-8")


def _holder(path: Path) -> str:
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        pid, command = int(note["pid"]), str(note["command"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return ", in this same process" if pid == os.getpid() else f": process {pid} ({command})"
