"""How many inferences a window has, and how long each step of its handshake may take."""

from __future__ import annotations

import math
from dataclasses import dataclass

RESERVE = 1.02
"""A board may be a little faster than when its latency was measured."""

WAIT_S = 5.0
REST_S = 0.1
"""How long the board idles before the trigger: the idle level is measured meanwhile."""

MOST_INFERENCES = 0xFFFF_FFFF


@dataclass(frozen=True)
class Plan:
    """A window of ``inferences``, which should last ``least_s`` at least and is over by ``most_s``.

    ``latency_us`` is what one inference takes by the board's own clock.
    """

    inferences: int
    latency_us: float
    least_s: float

    @property
    def most_s(self) -> float:
        """When the window has to be over."""
        return 2e-6 * self.inferences * self.latency_us + WAIT_S


def plan(latency_us: float, window_s: float, runs: int | None) -> Plan:
    """The inferences of a window of at least ``window_s`` seconds; ``runs`` sets them instead."""
    if runs is not None:
        return Plan(runs, latency_us, 0.0)
    inferences = math.ceil(RESERVE * window_s * 1e6 / max(latency_us, 1e-3))
    return Plan(min(max(1, inferences), MOST_INFERENCES), latency_us, window_s)
