"""Running without a count: time goes by as outside, and a run ends where nothing is lost.

Some three times as fast as with unicorn's own count, which is a call for each instruction.
"""

from __future__ import annotations

import threading
import time as host_time
from collections.abc import Callable
from typing import Any

from pytest_autodeploy.virtual.timebase import FS, Timebase

SLICE_S = 0.002
"""After so long a run ends at the next access to a peripheral."""

QUIET_S = 0.25
"""After so long without one it is stopped from another thread: an interrupt that comes meanwhile
waits for that, and so does the end of a program that has none."""


class Outside:
    """Instructions are those that fit into the time outside.

    Unicorn leaves the access undone during which it is stopped, and does it again afterwards: a
    byte would be lost. So a run ends before an access, which `may_access` refuses, or it is stopped
    by a watchdog when there has been none for so long that none can be under way.
    """

    def __init__(self, uc: Any, time: Timebase) -> None:
        self._uc = uc
        self._time = time
        self._watchdog = Watchdog(self._expire)
        self._count = 0.0
        self._latest = self._until = self._accessed_at = 0.0
        self._over = self._stopped = self._accessed = False

    def begin(self, budget: int) -> int:
        now = host_time.monotonic()
        allowed_s = budget * self._time.instruction_fs / FS
        self._count, self._latest, self._until = 0.0, now, now + min(allowed_s, SLICE_S)
        self._accessed_at = now
        self._over = self._stopped = self._accessed = False
        self._watchdog.set(now + QUIET_S)
        return 0

    def executed(self) -> int:
        now = host_time.monotonic()
        self._count += (now - self._latest) * FS / self._time.instruction_fs
        self._latest = now
        return int(self._count)

    def total(self) -> int:
        self._watchdog.clear()
        return self.executed()

    @property
    def spent(self) -> bool:
        return self._over

    def end(self) -> None:
        self._over = True

    def may_access(self) -> bool:
        """Whether an access is done now; each run does one at least."""
        now = host_time.monotonic()
        if self._stopped or (self._accessed and (self._over or now > self._until)):
            self._over = True
            self._uc.emu_stop()
            return False
        self._accessed, self._accessed_at = True, now
        return True

    def close(self) -> None:
        self._watchdog.close()

    def _expire(self) -> None:
        """Stop a run that is quiet; look again, as a stop may come before the run has begun."""
        now = host_time.monotonic()
        if now - self._accessed_at >= QUIET_S:
            self._over = self._stopped = True
            self._uc.emu_stop()
        self._watchdog.set(now + QUIET_S)


class Watchdog:
    """Calls ``expire`` in a thread of its own at a time, unless it is cleared before."""

    def __init__(self, expire: Callable[[], None]) -> None:
        self._expire = expire
        self._changed = threading.Condition(threading.RLock())
        self._due: float | None = None
        self._looks_at = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def set(self, due: float) -> None:
        """Expire then, and not when it was to be before."""
        with self._changed:
            self._due = due
            if due < self._looks_at:
                self._changed.notify()

    def clear(self) -> None:
        """Do not expire; what has begun to is over when this returns."""
        with self._changed:
            self._due = None

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now = host_time.monotonic()
                if self._due is not None and self._due <= now:
                    self._due = None
                    self._expire()
                self._looks_at = now + QUIET_S if self._due is None else self._due
                self._changed.wait(self._looks_at - now)
