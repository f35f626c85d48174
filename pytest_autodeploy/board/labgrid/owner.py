"""Who holds a place: labgrid knows owners as HOST/USER, and each run is a user of its own there.

labgrid keeps an acquired place for ever when the client that acquired it dies, and to it two runs
of one user are the same owner. With a name for each run nobody gives back what another has, and
what a dead run of this PC holds can be told.
"""

from __future__ import annotations

import getpass
import os
import re
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, take_lock
from pytest_autodeploy.base.private_folder import private_folder

if TYPE_CHECKING:
    import filelock

_MARK = "-autodeploy-"
_RUN = re.compile(rf"(?P<host>.+)/.+{_MARK}(?P<run>\d+-[0-9a-f]{{8}})")
_PARTS = ("run", "keeper")
"""The processes that hold a lock each while they live."""


@dataclass(frozen=True)
class Owner:
    """An owner of places; ``str`` of it is HOST/USER."""

    host: str
    user: str

    def __str__(self) -> str:
        return f"{self.host}/{self.user}"

    @property
    def environment(self) -> dict[str, str]:
        """What makes labgrid-client act for it."""
        return {"LG_HOSTNAME": self.host, "LG_USERNAME": self.user}

    def sign(self, part: str) -> filelock.BaseFileLock:
        """Hold the lock that says that this process, one of ``_PARTS``, lives.

        Raises LockHeld, LockUnusable, NotPrivate.
        """
        found = _RUN.fullmatch(str(self))
        assert found is not None
        return take_lock(_file(found["run"], part), 0)

    def forget(self) -> None:
        """Remove its locks, once it holds nothing any more."""
        found = _RUN.fullmatch(str(self))
        assert found is not None
        for part in _PARTS:
            with suppress(OSError):
                _file(found["run"], part).unlink()


def new_owner() -> Owner:
    """A name for this run, after the user's own as labgrid knows it."""
    host = os.environ.get("LG_HOSTNAME") or socket.gethostname()
    user = os.environ.get("LG_USERNAME") or getpass.getuser()
    return Owner(host, f"{user}{_MARK}{os.getpid()}-{secrets.token_hex(4)}")


def is_dead(owner: str) -> bool:
    """Whether a HOST/USER was a run on this PC that has ended: its locks are there, and free.

    Of others, and of runs in containers with another folder for temporary files, nothing is known.
    """
    found = _RUN.fullmatch(owner)
    if found is None or found["host"] != new_owner().host:
        return False
    locks = [_file(found["run"], part) for part in _PARTS]
    there = [path for path in locks if path.exists()]
    return bool(there) and all(_is_free(path) for path in there)


def _is_free(path: Path) -> bool:
    try:
        take_lock(path, 0).release()
    except (LockHeld, LockUnusable):
        return False
    return True


def _file(run: str, part: str) -> Path:
    return private_folder() / f"labgrid-{run}-{part}.lock"
