"""What repeats say together: Student's quantiles, mean and spread, which differences are real."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_MOST_STEPS = 200


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation; the deviation of a single value is None.

    ``resolution`` is the smallest difference between two measurements of as many windows that can
    be told apart, None for a single window.
    """

    mean: float
    deviation: float | None
    resolution: float | None


def spread(values: Sequence[float], edge: float) -> Spread:
    """The spread of one figure over windows; an error of up to ``edge`` is in every value.

    The resolution is t * s * sqrt(2 / n), with Student's t for 95 % and 2n - 2 degrees of freedom:
    the least significant difference of the two-sample t-test for equal variances (NIST/SEMATECH
    e-Handbook of Statistical Methods, 1.3.5.3). It is never below ``edge``.
    """
    mean = statistics.fmean(values)
    count = len(values)
    if count < 2:
        return Spread(mean, None, None)
    deviation = statistics.stdev(values)
    least = student_t(2 * count - 2) * deviation * math.sqrt(2 / count)
    return Spread(mean, deviation, max(least, edge))


def student_t(freedom: float) -> float:
    """The 97.5 % quantile of Student's t, to three digits as tables have it."""
    return round(student_quantile(0.975, freedom), 3)


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's distribution above its median, to ten digits.

    Newton's steps on the upper tail: it falls and is convex, so that from the normal quantile,
    which is too small, no step goes too far. With three degrees of freedom or more the first term
    of the expansion in 1 / freedom (Abramowitz and Stegun 26.7.5) is a nearer start.
    (SciPy is too large a package to depend on for it.)
    """
    wanted = 1 - probability
    at = statistics.NormalDist().inv_cdf(probability)
    if freedom >= 3:
        at += (at**3 + at) / (4 * freedom)
    for _ in range(_MOST_STEPS):
        step = (_tail(at, freedom) - wanted) / _density(at, freedom)
        at += step
        if abs(step) <= 1e-12 * at:
            break
    return at


def _density(at: float, freedom: float) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    power = -(freedom + 1) / 2 * math.log1p(at * at / freedom)
    return math.exp(scale + power) / math.sqrt(freedom * math.pi)


def _tail(at: float, freedom: float) -> float:
    """P(T > at): half the regularised incomplete beta function (Abramowitz and Stegun 26.7.1)."""
    a, b, x = freedom / 2, 0.5, freedom / (freedom + at * at)
    if x < (a + 1) / (a + b + 2):
        return _incomplete_beta(a, b, x) / 2
    return (1 - _incomplete_beta(b, a, at * at / (freedom + at * at))) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b) by its continued fraction (26.5.8), evaluated after Lentz."""
    if x <= 0:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front += a * math.log(x) + b * math.log1p(-x)
    value, upper, lower = 1.0, 1.0, 0.0
    for number in range(_MOST_STEPS):
        half = number // 2
        if number == 0:
            part = 1.0
        elif number % 2:
            part = -(a + half) * (a + b + half) * x / ((a + number - 1) * (a + number))
        else:
            part = half * (b - half) * x / ((a + number - 1) * (a + number))
        lower = 1 / _not_zero(1 + part * lower)
        upper = _not_zero(1 + part / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return math.exp(front) * (value - 1) / a


def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
