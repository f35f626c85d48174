"""The smallest difference that repeats can tell apart, and how many repeats that takes.

A value is the median of n repeats with standard deviation s. For normal noise the standard error
of a median is ``sqrt(pi / 2) * s / sqrt(n)`` (Laplace), a quarter more than that of a mean, in
return for which single outliers do not move it. Two medians differ when they are farther apart
than ``t * sqrt(error1**2 + error2**2)``, where t is the one-sided quantile of Student's
distribution at ``CONFIDENCE`` with Welch's degrees of freedom (Welch 1947). So noise alone gives
a false alarm in one of 10,000 comparisons, however small the percentage that was asked for.
"""

from __future__ import annotations

import math
from statistics import NormalDist

CONFIDENCE = 0.9999
MEDIAN_ERROR = math.sqrt(math.pi / 2)

Repeats = tuple[float | None, int]
"""Standard deviation and number of repeats of a median; None: not known, taken as no noise."""


def smallest_difference(one: Repeats, other: Repeats) -> float:
    """How far apart two medians must be to differ, in their unit.

    A single value has no deviation; it is given that of the other side, as one repeat.
    """
    spreads = [spread for spread, repeats in (one, other) if spread is not None and repeats > 1]
    if not any(spreads):
        return 0.0
    known = max(spreads)
    # In units of the larger deviation: the squares of tiny ones would be 0.
    parts = [
        (1.0, 1) if spread is None or repeats < 2 else (spread / known, repeats)
        for spread, repeats in (one, other)
    ]
    errors = [MEDIAN_ERROR**2 * spread**2 / repeats for spread, repeats in parts]
    weights = [
        error**2 / max(repeats - 1, 1) for error, (_, repeats) in zip(errors, parts, strict=True)
    ]
    freedom = sum(errors) ** 2 / sum(weights)
    return student_quantile(CONFIDENCE, freedom) * math.sqrt(sum(errors)) * known


def repeats_needed(spread: float, difference: float, most: int) -> int:
    """The repeats on each side that tell ``difference`` apart, at most ``most``."""
    if not spread:
        return 1
    low, high = 2, most
    while low < high:
        middle = (low + high) // 2
        enough = smallest_difference((spread, middle), (spread, middle)) <= difference
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's distribution, expanded around the normal one.

    Abramowitz and Stegun 26.7.5 to the third power of 1/freedom: within 1 % from 10 degrees on.
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))
