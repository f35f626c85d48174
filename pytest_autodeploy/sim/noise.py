"""Noise in the times of a simulated board, whose own are the same on every run; for testing."""

from __future__ import annotations

import random


class TimingNoise:
    """Makes each time that a board reports another: a normal factor of its own, from one seed.

    ``percent`` is the factor's standard deviation, ``slowdown`` what its mean is above 1, both in
    per cent. Every inference and every layer has its own factor, so the layers of an inference do
    not add up to its time.
    """

    def __init__(self, percent: float = 0.0, seed: int = 0, slowdown: float = 0.0) -> None:
        self._mean = 1 + slowdown / 100
        self._deviation = percent / 100
        self._random = random.Random(seed)  # noqa: S311  # repeatable on purpose

    def of(self, ticks: int) -> int:
        """The time that is reported in place of ``ticks``."""
        if not self._deviation:
            return round(ticks * self._mean)
        return max(0, round(ticks * self._mean * self._random.gauss(1, self._deviation)))
