"""Measuring enough: as many repeats and starts of the board as a threshold needs, in a set time.

How many repeats are needed is reckoned from their noise alone, never from the change: to measure on
until a change shows would find one by chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.format import Entry
from pytest_autodeploy.baseline.precision import (
    repeats_in_each_start,
    repeats_needed,
    repeats_on_both_sides,
)
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.metric import Metric
from pytest_autodeploy.metrics.subject import Subject

LEAST, LEAST_WINDOWS = 10, 2
"""Timed inferences of a start behind anything that is judged, and windows of energy."""

OF_BASELINE, WINDOWS_OF_BASELINE = 30, 8
"""The same of a baseline, on which each comparison rests. A window takes more than a second; with
eight of them Student's quantile is near its least."""

MOST_TIMES = 100
"""How many times the least repeats may be measured."""

MARGIN = 0.8
"""The repeats are to tell apart this share of what is allowed."""

PASSES = 3
FIRST = 5
"""Repeats that tell how long one takes."""


def _is_of_windows(name: str) -> bool:
    return name.startswith("energy")


def least_of_baseline(name: str) -> int:
    """The repeats of a measurement that a baseline has at least."""
    return WINDOWS_OF_BASELINE if _is_of_windows(name) else OF_BASELINE


@dataclass(frozen=True)
class Noisy:
    """A measurement whose repeats differ, of a metric; it may be worse by ``allowed``."""

    name: str
    metric: Metric
    repeated: Repeats
    allowed: float

    @property
    def least(self) -> int:
        """The repeats that each start has at least."""
        return LEAST_WINDOWS if _is_of_windows(self.name) else LEAST

    def of_baseline_start(self, starts: int) -> int:
        """The repeats that each of so many starts of a baseline has, as far as is known by now."""
        target, most = MARGIN * self.allowed, MOST_TIMES * self.least
        needed = repeats_on_both_sides(self.repeated, target, most)
        in_all = max(needed, least_of_baseline(self.name))
        in_each = repeats_in_each_start(self.repeated, starts, MARGIN * target, most)
        return max(self.least, -(-in_all // starts), in_each)


class Enough:
    """Measures more for a test, by ``metrics`` under ``limit``; begins nothing after ``seconds``.

    What cannot be repeated, such as a capture, stays as it is.
    """

    def __init__(
        self,
        subject: Subject,
        metrics: Sequence[Metric],
        limit: NoRegression,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._subject = subject
        self._metrics = metrics
        self._limit = limit
        self._clock = clock
        self._end = clock() + seconds

    @property
    def time_left(self) -> bool:
        """Whether more may be begun."""
        return self._clock() < self._end

    def for_baseline(self, starts: int) -> None:
        """What later comparisons need of a baseline of so many starts."""
        later = {}
        for _ in range(PASSES):
            for each in self._noisy():
                later[each.name] = each.of_baseline_start(starts)
                self._add(each, later[each.name] - each.repeated.count)
        self.start_anew(starts - 1, counts=later)

    def against(self, baseline: Entry, starts: int) -> None:
        """What a comparison with a baseline needs, of so many starts of the board."""
        for _ in range(PASSES):
            for each in self._noisy():
                before = baseline.metrics.get(each.name)
                if before is None:
                    continue
                most = MOST_TIMES * each.least
                target = MARGIN * each.allowed
                needed = repeats_needed(before.repeated, each.repeated, target, most)
                # Starts are compared with starts: their means rest on as many repeats.
                alike = before.repeats // before.starts if before.start_spread else 0
                self._add(each, max(each.least, needed, alike) - each.repeated.count)
        self.start_anew(starts - 1)

    def start_anew(
        self,
        starts: int,
        names: Iterable[str] | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> bool:
        """Measure as much in so many more starts as in the first; False where time was too short.

        ``names`` are the measurements that it is done for, by default all; ``counts`` are their
        repeats in each start where these are others than in the first. A board that cannot be
        restarted by its host stays in the start that it is in.
        """
        wanted = [each for each in self._noisy() if names is None or each.name in names]
        for _ in range(starts if wanted else 0):
            if not self.time_left:
                return False
            try:
                self._subject.board.restart()
            except BoardRefused:
                return False
            for each in wanted:
                count = (counts or {}).get(each.name, each.repeated.count // each.repeated.starts)
                if not each.metric.repeat(self._subject, each.name, count, restarted=True):
                    return False
        return True

    def _noisy(self) -> Iterator[Noisy]:
        for metric in self._metrics:
            for item in list(metric.measurements(self._subject)):
                group = self._limit.group_of(item.name)
                percent = self._limit.percent[group] if group else None
                if item.repeated is None or group is None or percent is None:
                    continue
                centre = item.repeated.centre
                floor = self._limit.floor(group, item.unit, centre)
                allowed = max(percent * abs(centre) / 100, floor)
                yield Noisy(item.name, metric, item.repeated, allowed)

    def _add(self, noisy: Noisy, count: int) -> None:
        step = min(count, FIRST)
        while count > 0 and self.time_left:
            began = self._clock()
            if not noisy.metric.repeat(self._subject, noisy.name, step, restarted=False):
                return
            count -= step
            each = max((self._clock() - began) / step, 1e-6)
            step = min(count, max(1, int((self._end - self._clock()) / each)))
