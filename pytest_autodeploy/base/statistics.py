"""What several windows say together: mean, spread, and which differences are real."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# fmt: off
T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)
# fmt: on
"""The 97.5 % quantile of Student's t for 1, 2, ... degrees of freedom."""


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


def student_t(freedom: int) -> float:
    """The 97.5 % quantile; beyond the table the first term of its expansion in 1 / freedom.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    if freedom <= len(T975):
        return T975[freedom - 1]
    normal = statistics.NormalDist().inv_cdf(0.975)
    return normal + (normal**3 + normal) / (4 * freedom)
