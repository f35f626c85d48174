"""Who has a lease, as those who wait for it are told."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError

_COMMAND_LENGTH = 120


class LeaseUnusable(AutodeployError):
    """The system does not let this process have leases at all."""


@dataclass(frozen=True)
class Holder:
    """Who has a lease; None and empty is what cannot be known. ``since`` is in seconds of time()"""

    pid: int | None = None
    user: str = ""
    since: float | None = None
    run: str = ""
    is_this_process: bool = False

    @property
    def text(self) -> str:
        """One phrase: ``process 4711 (pytest tests) of alice since 17:03:21``."""
        who = "another process" if self.pid is None else f"process {self.pid}"
        run = f" ({self.run})" if self.run else ""
        user = f" of {self.user}" if self.user else ""
        return f"{who}{run}{user}{clock_text(self.since)}"


def clock_text(since: float | None) -> str:
    """`` since 17:03:21``, with the day unless it is today; nothing of None."""
    if since is None:
        return ""
    when, now = time.localtime(since), time.localtime()
    day = "" if when[:3] == now[:3] else time.strftime("%Y-%m-%d ", when)
    return f" since {day}{time.strftime('%H:%M:%S', when)}"


def command_line() -> str:
    """What this process was started with, as those who wait are told."""
    return short(" ".join([Path(sys.argv[0]).name, *sys.argv[1:]]))


def short(text: str) -> str:
    """A text of another process, as it may be printed."""
    printable = "".join(each if each.isprintable() else "?" for each in text)
    return printable[:_COMMAND_LENGTH]
