"""How a metric went over the runs of the history, where it jumped, and whether it drifts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.comparison_text import difference_text
from pytest_autodeploy.baseline.drift import Drift, find_drift
from pytest_autodeploy.baseline.history import History, Point
from pytest_autodeploy.baseline.measured import Measured, title_of_one
from pytest_autodeploy.baseline.precision import smallest_difference
from pytest_autodeploy.limits.regression import NoRegression

LEVEL_RUNS = 5
"""Runs whose median is the level that a jump starts from."""


@dataclass(frozen=True)
class Trend:
    """The points of a metric, oldest first, and the numbers of those at which it jumped.

    ``drift`` is how it changed over all of them, None when by less than a baseline allows.
    """

    metric: str
    unit: str
    better: str
    points: tuple[Point, ...]
    jumps: tuple[int, ...]
    drift: Drift | None = None

    @property
    def worse(self) -> bool:
        """Whether its drift is for the worse."""
        return self.drift is not None and (
            (self.drift.now > self.drift.before) != (self.better == "higher")
        )

    @property
    def drift_text(self) -> str:
        """The drift, such as ``+20 % since commit 1a2b3c, 40 runs ago``; empty without one."""
        if self.drift is None:
            return ""
        change = difference_text(self.drift.before, self.drift.now, self.unit)
        how = "slowly, " if self.drift.slow else ""
        first = self.points[self.drift.since]
        ago = len(self.points) - 1 - self.drift.since
        return f"{how}{change} since {commit_text(first)}, {ago} run{'' if ago == 1 else 's'} ago"


def commit_text(point: Point) -> str:
    """The commit of a point, with a plus when files were changed since."""
    short = one_line(point.commit, 40)[:12]
    return f"commit {short}{'+' if point.changed else ''}" if short else "an unknown commit"


def trends(
    history: History, result: Measured, limit: NoRegression, pull_request: str = ""
) -> list[Trend]:
    """The trends of what baselines keep, for metrics with two runs or more.

    ``limit`` says what is kept, and what is a jump; ``pull_request`` is that of this run.

    Raises HistoryError.
    """
    kept = [item for item in result.measurements if limit.group_of(item.name) is not None]
    names = [item.name for item in kept]
    series = history.series(result, pull_request=pull_request, names=names) if names else {}
    return [
        _trend(item, points, limit) for item in kept if len(points := series.get(item.name, [])) > 1
    ]


def drift_lines(
    history: History, results: Iterable[Measured], limit: NoRegression, pull_request: str = ""
) -> Iterator[str]:
    """A line for each metric that became worse over runs, also when each of them passed."""
    for result in results:
        for trend in trends(history, result, limit, pull_request):
            if trend.worse:
                yield f"{title_of_one(result)}: {trend.metric} {trend.drift_text}"


def _trend(item: Measurement, points: Sequence[Point], limit: NoRegression) -> Trend:
    jumps = find_jumps(points, item.name, item.unit, limit)
    drift = find_drift([p.value for p in points], [_error(p) for p in points])
    if drift is not None:
        level = abs(drift.before)
        most = _threshold(item.name, item.unit, level, limit)
        drift = drift if abs(drift.now - drift.before) > most else None
    return Trend(item.name, item.unit, item.better, tuple(points), tuple(jumps), drift)


def _error(point: Point) -> float:
    return (point.spread or 0.0) / math.sqrt(point.repeats)


def find_jumps(points: Sequence[Point], metric: str, unit: str, limit: NoRegression) -> list[int]:
    """The numbers of the points at which the level of a metric changed.

    The level is the median of up to five runs since the last jump. A point beyond it by more than
    a baseline allows is a jump when the next one is beyond it on the same side too, or when there
    is no next one: a single outlier is none.
    """
    jumps: list[int] = []
    start = 0
    for number in range(1, len(points)):
        level = statistics.median(p.value for p in points[start:number][-LEVEL_RUNS:])
        before = points[number - 1]
        sides = [
            _side(level, before, point, metric, unit, limit)
            for point in points[number : number + 2]
        ]
        if sides[0] and sides[0] == sides[-1]:
            jumps.append(number)
            start = number
    return jumps


def _side(
    level: float, before: Point, point: Point, metric: str, unit: str, limit: NoRegression
) -> int:
    """1 above the level, -1 below it, 0 within what is allowed."""
    change = point.value - level
    allowed = _threshold(metric, unit, level, limit)
    if abs(change) <= allowed:
        return 0
    allowed = max(
        allowed,
        smallest_difference(
            Repeats(before.value, before.spread, before.repeats),
            Repeats(point.value, point.spread, point.repeats),
        ),
    )
    return 0 if abs(change) <= allowed else 1 if change > 0 else -1


def _threshold(metric: str, unit: str, level: float, limit: NoRegression) -> float:
    """What a baseline allows without noise."""
    group = limit.group_of(metric) or ""
    share = (limit.percent[group] or 0) * abs(level) / 100
    return max(share, limit.floor(group, unit, level))
