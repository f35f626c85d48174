"""Streams of a power meter with known answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_autodeploy.power.meter import BOTH, IN1, Chunk, MeterFacts
from pytest_autodeploy.power.window import Window, WindowFinder

Array = np.ndarray[Any, Any]

RATE_HZ = 2_000_000.0
FACTS = MeterFacts("synthetic", "measured", RATE_HZ, max_a=10.0, max_v=15.0)
VOLTS = 1.8
IDLE_S, READY_S, END_S = 0.08, 0.02, 0.01


@dataclass
class Stream:
    """A whole stream, and where the window is in it."""

    current: Array
    voltage: Array
    lines: Array
    start: int
    end: int
    first: int = 0
    drop: tuple[int, int] | None = None

    @property
    def joules(self) -> float:
        """The energy within the window."""
        here = slice(self.start, self.end)
        power = self.current[here].astype(np.float64) * self.voltage[here]
        return float(power.sum()) / RATE_HZ

    def chunks(self, size: int | Sequence[int]) -> Iterator[Chunk]:
        """The stream in pieces of a size, or cut at these places."""
        total = len(self.lines)
        cuts = list(range(0, total, size)) if isinstance(size, int) else [0, *size]
        for start, end in zip(cuts, [*cuts[1:], total], strict=True):
            for begin, stop in self._kept(start, end):
                here = slice(begin, stop)
                yield Chunk(
                    self.first + begin, self.current[here], self.voltage[here], self.lines[here]
                )

    def _kept(self, start: int, end: int) -> list[tuple[int, int]]:
        if self.drop is None:
            return [(start, end)]
        low, high = (min(max(edge, start), end) for edge in self.drop)
        return [(a, b) for a, b in ((start, low), (high, end)) if a < b]


def stream(amperes: Array, *, idle_a: float = 1e-3) -> Stream:
    """A handshake around a window in which the current is ``amperes``, one value a sample."""
    idle, ready, end = (round(seconds * RATE_HZ) for seconds in (IDLE_S, READY_S, END_S))
    before = np.full(idle + ready, idle_a)
    current = np.concatenate((before, amperes, np.full(end, idle_a))).astype(np.float32)
    lines = np.zeros(len(current), np.uint8)
    start = idle + ready
    lines[idle:start] = BOTH
    lines[start + len(amperes) :] = IN1
    voltage = np.full(len(current), VOLTS, np.float32)
    return Stream(current, voltage, lines, start, start + len(amperes))


def found(chunks: Iterator[Chunk], facts: MeterFacts = FACTS) -> list[Window]:
    """All windows in a stream."""
    finder = WindowFinder(facts)
    return [window for chunk in chunks for window in finder.feed(chunk)]
