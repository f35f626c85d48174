"""How far a machine's time is ahead of the time outside."""

from __future__ import annotations

import time as host_time

from pytest_autodeploy.virtual.timebase import FS, Timebase


class Pace:
    """Compares both times; one that fell behind is not made up for."""

    def __init__(self, time: Timebase) -> None:
        self._time = time
        self.forgive()

    def forgive(self) -> None:
        """From here on both are the same."""
        self._inside, self._outside = self._time.fs, host_time.monotonic()

    def ahead_s(self) -> float:
        """Seconds by which the machine is ahead, 0 when it is not."""
        inside, outside = self._time.fs, host_time.monotonic()
        ahead = (inside - self._inside) / FS - (outside - self._outside)
        if ahead <= 0:
            self.forgive()
        return max(ahead, 0.0)
