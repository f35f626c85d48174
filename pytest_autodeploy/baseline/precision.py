"""How far apart two figures must be to differ, and how many repeats or starts tell more.

A figure is the mean of n repeats with standard deviation s. Two differ when they are farther apart
than ``t * sqrt(s1**2 / n1 + s2**2 / n2)``, where t is the one-sided quantile of Student's
distribution at ``CONFIDENCE`` with Welch's degrees of freedom (Welch 1947). So noise alone gives a
false alarm in one of 1,000 comparisons at most, however small the percentage that was asked for.

Each start of a board may differ from the others: its flash, its placement, its temperature. Where
a figure is of several starts, these are the repeats: their means have the standard deviation v, and
two figures differ when they are also farther apart than ``t * sqrt(v1**2 / k1 + v2**2 / k2)``,
again after Welch; a single start is given the deviation of the other side.

A quantile says nothing of a board that starts in one of two modes: five starts may all be in one.
Two such modes put all starts of one figure in the one and all of the other in the other in at most
one of 2**(k1 + k2) comparisons, so ``STARTS`` together are needed to call a figure worse: half of
the false alarms that are allowed may come from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.base.statistics import student_quantile

ALPHA = 1e-3
CONFIDENCE = 1 - ALPHA
MEDIAN_ERROR = math.sqrt(math.pi / 2)
"""Standard error of a median over that of a mean, for normal noise (Laplace)."""

STARTS = math.ceil(math.log2(2 / ALPHA))
MOST_STARTS = 30


def smallest_difference(one: Repeats, other: Repeats, alpha: float = ALPHA) -> float:
    """How far apart two figures must be to differ, in their unit: by repeats and by starts."""
    return max(by_repeats(one, other, alpha), by_starts(one, other, alpha))


def by_repeats(one: Repeats, other: Repeats, alpha: float = ALPHA) -> float:
    """How far apart two figures must be by the noise within a start.

    A single value has no deviation; it is given that of the other side, as one repeat.
    """
    worth = worth_of(max(one.memory, other.memory))
    sides = [(side.spread, _effective(side.kept, worth)) for side in (one, other)]
    known = max((s for s, repeats in sides if s is not None and repeats > 1), default=0.0)
    if not known:
        return 0.0
    # In units of the larger deviation: the squares of tiny ones would be 0.
    parts = [
        (1.0, 1.0) if s is None or repeats < 2 else (s / known, repeats) for s, repeats in sides
    ]
    errors = [s**2 / repeats for s, repeats in parts]
    weights = [
        error**2 / max(repeats - 1, 1) for error, (_, repeats) in zip(errors, parts, strict=True)
    ]
    freedom = sum(errors) ** 2 / sum(weights)
    return _quantile(alpha, freedom) * math.sqrt(sum(errors)) * known


def worth_of(memory: float) -> float:
    """What a repeat tells that is like the one before it, as a share of one that is not."""
    return (1 - memory) / (1 + memory)


def _effective(repeats: int, worth: float) -> float:
    """As many repeats without memory; a deviation is known from two on."""
    return max(2.0, repeats * worth) if repeats > 1 else float(repeats)


def by_starts(one: Repeats, other: Repeats, alpha: float = ALPHA) -> float:
    """How far apart two figures must be by the noise between starts; 0 where that is unknown."""
    spread, freedom = start_noise(one, other)
    if not freedom or not spread:
        return 0.0
    shares = [spread if side.start_spread is None else side.start_spread for side in (one, other)]
    errors = [(s / spread) ** 2 / side.starts for s, side in zip(shares, (one, other), strict=True)]
    if one.start_spread is not None and other.start_spread is not None:
        # Not their common deviation: of a board with two modes, one side may have seen but one.
        weights = [e**2 / (side.starts - 1) for e, side in zip(errors, (one, other), strict=True)]
        freedom_of_both = sum(errors) ** 2 / sum(weights)
    else:
        freedom_of_both = float(freedom)
    return _quantile(alpha, freedom_of_both) * math.sqrt(sum(errors)) * spread


def start_noise(one: Repeats, other: Repeats) -> tuple[float, int]:
    """The standard deviation of starts by both sides, and its degrees of freedom, 0 if unknown."""
    known = [(s.start_spread, s.starts - 1) for s in (one, other) if s.start_spread is not None]
    freedom = sum(free for _, free in known)
    if not freedom:
        return 0.0, 0
    largest = max(spread for spread, _ in known)
    if not largest:
        return 0.0, freedom
    squares = sum(free * (spread / largest) ** 2 for spread, free in known)
    return largest * math.sqrt(squares / freedom), freedom


def starts_missing(one: Repeats, other: Repeats) -> int:
    """How many more starts are needed to call one worse, where starts are known to matter."""
    known = one.start_spread is not None or other.start_spread is not None
    return max(0, STARTS - one.starts - other.starts) if known else 0


def repeats_needed(baseline: Repeats, now: Repeats, difference: float, most: int) -> int:
    """The repeats now that tell ``difference`` from a baseline, at most ``most``.

    The noise may be as large as that of the baseline: few repeats may look steadier than they are.
    """
    if not now.spread:
        return 1 if now.spread is not None else min(2, most)
    spread = max(now.spread, baseline.spread or 0.0)

    def enough(count: int) -> bool:
        return by_repeats(baseline, _more(now, count, spread)) <= difference

    return _least(enough, 2, most)


def repeats_on_both_sides(now: Repeats, difference: float, most: int) -> int:
    """The repeats that two figures with the noise of ``now`` need to be told apart."""
    if not now.spread:
        return 1 if now.spread is not None else min(2, most)

    def enough(count: int) -> bool:
        side = _more(now, count, now.spread)
        return by_repeats(side, side) <= difference

    return _least(enough, 2, most)


def _more(side: Repeats, count: int, spread: float | None) -> Repeats:
    return replace(side, count=count, outliers=0, spread=spread)


def repeats_in_each_start(now: Repeats, starts: int, difference: float, most: int) -> int:
    """The repeats of each start of a baseline, so that their noise alone hides no ``difference``.

    It is in the means of the starts, of which so few tell little.
    """
    if not now.spread or starts < 2:
        return 1
    if not difference:
        return most
    quantile = _quantile(ALPHA, starts - 1) * math.sqrt(1 + 1 / starts)
    needed = (quantile * now.spread / difference) ** 2 / worth_of(now.memory)
    return min(most, math.ceil(needed))


def starts_needed(baseline: Repeats, now: Repeats, difference: float) -> int | None:
    """The starts now that tell ``difference`` from a baseline, None if no number does."""
    spread, _ = start_noise(baseline, now)

    def enough(starts: int) -> bool:
        of_now = replace(now, starts=starts, start_spread=spread if starts > 1 else None)
        return by_starts(baseline, of_now) <= difference

    # One after the other: with ever more starts now, the few of the baseline are all that counts.
    least = max(1, STARTS - baseline.starts)
    return next((starts for starts in range(least, MOST_STARTS) if enough(starts)), None)


def _least(enough: Callable[[int], bool], low: int, high: int) -> int:
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def _quantile(alpha: float, freedom: float) -> float:
    return student_quantile(1 - alpha, freedom)
