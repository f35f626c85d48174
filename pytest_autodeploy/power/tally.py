"""Sums over samples: of a window, and of the time before one in which the board idles."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.power.meter import Floats, MeterFacts

    Watts = np.ndarray[Any, np.dtype[np.float64]]

IDLE_BLOCK_S = 0.01
IDLE_BLOCKS = 5


class Tally:
    """Sums of power (W), current (A) and voltage (V) over samples, their peak, and what is wrong.

    ``missing`` counts samples that are not there or not numbers, ``clipped`` those that are at the
    bounds of the meter. The memory does not depend on the number of samples.
    """

    def __init__(self, facts: MeterFacts) -> None:
        self._facts = facts
        self.samples = self.missing = self.clipped = 0
        self.power = self.current = self.voltage = 0.0
        self.peak = float("-inf")

    def add(self, power: Watts, current: Floats, voltage: Floats) -> None:
        """Add samples. What is not a number becomes 0 in ``power``, in place, and is counted."""
        if not len(power):
            return
        self.samples += len(power)
        watts = float(power.sum())
        if not math.isfinite(watts):
            current, voltage = self._clean(power, current, voltage)
            watts = float(power.sum())
        self.power += watts
        self.peak = max(self.peak, float(power.max()))
        if len(current):
            self.current += float(current.sum())
            self.voltage += float(voltage.sum())
            self._count_clipped(current, voltage)

    def _clean(self, power: Watts, current: Floats, voltage: Floats) -> tuple[Floats, Floats]:
        import numpy as np

        good = np.isfinite(power)
        power[~good] = 0.0
        self.missing += len(power) - int(np.count_nonzero(good))
        return current[good], voltage[good]

    def _count_clipped(self, current: Floats, voltage: Floats) -> None:
        import numpy as np

        most_a, most_v = self._facts.max_a, self._facts.max_v
        if max(current.max(), -current.min()) < most_a and voltage.max() < most_v:
            return
        clipped = (np.abs(current) >= most_a) | (voltage >= most_v)
        self.clipped += int(np.count_nonzero(clipped))


class IdleLevel:
    """The mean power (W) of the latest complete blocks of 10 ms, five at most.

    Blocks begin at fixed sample ids, so the level does not depend on how samples arrive.
    """

    def __init__(self, rate_hz: float) -> None:
        self._block = max(1, round(IDLE_BLOCK_S * rate_hz))
        self._sums: deque[float] = deque(maxlen=IDLE_BLOCKS)
        self._sum, self._count, self._number = 0.0, 0, -1

    def add(self, first: int, power: Watts) -> None:
        """Add samples, the first of which has the id ``first``."""
        start = 0
        while start < len(power):
            number = (first + start) // self._block
            if number != self._number:
                self._close(number)
            end = min(len(power), (number + 1) * self._block - first)
            self._sum += float(power[start:end].sum())
            self._count += end - start
            start = end

    def _close(self, number: int) -> None:
        if self._count == self._block:
            self._sums.append(self._sum)
        self._sum, self._count, self._number = 0.0, 0, number

    @property
    def watts(self) -> float | None:
        """The level; None when no block has been complete."""
        if self._count == self._block:
            self._close(-1)
        return sum(self._sums) / (len(self._sums) * self._block) if self._sums else None

    def clear(self) -> None:
        """Forget all blocks."""
        self._sums.clear()
        self._sum, self._count, self._number = 0.0, 0, -1
