"""A clock of a simulated board's own, which may be wrong, for tests of who looks at clocks."""

from __future__ import annotations

import time
from collections.abc import Collection

from pytest_autodeploy.rpc.messages import ClockMode, Identity

CLOCK_FAULTS = ("own-clock", "fast-clock-hp", "fast-clock-lp", "wrapping-clock")
TOO_FAST = 1.25
WRAPS_AT = 1 << 28
_FIRST = (1 << 32) - (1 << 22)
"""Where it begins: a little before a counter of 32 bits would begin anew."""


class OwnClock:
    """Counts by this PC's clock, at the rate of the mode that the board is in."""

    def __init__(self, faults: Collection[str]) -> None:
        self._faults = frozenset(faults) & set(CLOCK_FAULTS)
        self._ticks = float(_FIRST)
        self._read_s: float | None = None

    def ticks(self, identity: Identity) -> int:
        """The present moment; 0 of a board whose inferences alone have time."""
        if not self._faults:
            return 0
        fast = "fast-clock-hp" if identity.clock is ClockMode.HIGH_PERFORMANCE else "fast-clock-lp"
        now = time.monotonic()
        rate = identity.tick_hz * (TOO_FAST if fast in self._faults else 1.0)
        self._ticks += (now - (self._read_s or now)) * rate
        self._read_s = now
        return int(self._ticks) % (WRAPS_AT if "wrapping-clock" in self._faults else 1 << 64)
