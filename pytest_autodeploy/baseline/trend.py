"""How a metric went over the runs of the history, and where it jumped."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.history import History, Point
from pytest_autodeploy.baseline.measured import Measured
from pytest_autodeploy.baseline.precision import smallest_difference
from pytest_autodeploy.limits.regression import NoRegression

LEVEL_RUNS = 5
"""Runs whose median is the level that a jump starts from."""


@dataclass(frozen=True)
class Trend:
    """The points of a metric, oldest first, and the numbers of those at which it jumped."""

    metric: str
    unit: str
    better: str
    points: tuple[Point, ...]
    jumps: tuple[int, ...]


def trends(history: History, result: Measured, limit: NoRegression) -> list[Trend]:
    """The trends of what baselines keep, for metrics with two runs or more.

    ``limit`` says what is kept, and what is a jump.

    Raises HistoryError.
    """
    found = []
    for item in result.measurements:
        name = item.name
        if limit.group_of(name) is None:
            continue
        points = history.points(result, name)
        if len(points) > 1:
            jumps = find_jumps(points, name, item.unit, limit)
            found.append(Trend(name, item.unit, item.better, tuple(points), tuple(jumps)))
    return found


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
    group = limit.group_of(metric) or ""
    allowed = max(
        (limit.percent[group] or 0) * abs(level) / 100,
        limit.floor(group, unit, level),
        smallest_difference(
            Repeats(before.value, before.spread, before.repeats),
            Repeats(point.value, point.spread, point.repeats),
        ),
    )
    change = point.value - level
    return 0 if abs(change) <= allowed else 1 if change > 0 else -1
