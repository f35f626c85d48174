"""What the repeats of one figure say: their centre, their spread, and which are outliers.

Repeats that an interrupt lengthened say nothing of the model, so they are left out and counted.
They are those farther from the median than ``FENCE`` deviations, where the deviation is estimated
from the median absolute deviation (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993),
and farther than ``NEAR`` of the median: two modes of a board, such as two placements in a cache,
lie nearer, and both belong to the figure. Where more than ``MOST_OUTLIERS`` would have to go, they
are no outliers, and all repeats count.

Repeats that are like those before them, as those of a board that warms up, tell less than as many
that are not: n of them with the correlation r tell as much as n (1 - r) / (1 + r) (Bayley and
Hammersley 1946, for noise whose memory fades). That is reckoned with where r is beyond chance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

FENCE = 3.5
NORMAL = 1.4826
"""Standard deviation of normal noise over its median absolute deviation."""

NEAR = 0.2
MOST_OUTLIERS = 1 / 3
LEAST_FOR_MEMORY = 10
MOST_MEMORY = 0.95
CHANCE = 1.5
"""Standard errors that a correlation may have by chance; to believe in one costs but repeats."""

ODD = 0.01
"""Values that differ from the median by less are never named as odd ones."""


@dataclass(frozen=True)
class Repeats:
    """A figure over ``count`` repeats, of which ``outliers`` are left out.

    ``centre`` is the mean of what is left, ``spread`` its standard deviation, None of a single
    repeat. Repeats may be of several ``starts`` of a board: then ``centre`` is the mean of the
    starts' means, ``spread`` is within starts, and ``start_spread`` is the standard deviation of
    the means, None of a single start. ``memory`` is how much a repeat is like the one before it, as
    a correlation; 0 where that may be chance.
    """

    centre: float
    spread: float | None = None
    count: int = 1
    outliers: int = 0
    starts: int = 1
    start_spread: float | None = None
    memory: float = 0.0

    @property
    def kept(self) -> int:
        """The repeats that are no outliers."""
        return self.count - self.outliers


def summarize(values: Sequence[float], counts: Sequence[int] = ()) -> Repeats:
    """What repeats say; ``counts`` are those of each start, in order, by default of one."""
    starts = [without_outliers(part) for part in _parts(values, counts or (len(values),))]
    means = [statistics.fmean(part) for part in starts]
    kept = sum(map(len, starts))
    squares = sum(
        (value - mean) ** 2 for part, mean in zip(starts, means, strict=True) for value in part
    )
    free = kept - len(starts)
    return Repeats(
        centre=statistics.fmean(means),
        spread=math.sqrt(squares / free) if free else None,
        count=len(values),
        outliers=len(values) - kept,
        starts=len(starts),
        start_spread=statistics.stdev(means) if len(means) > 1 else None,
        memory=_memory(starts, means, squares),
    )


def _memory(starts: Sequence[Sequence[float]], means: Sequence[float], squares: float) -> float:
    """The correlation of repeats that follow each other, 0 where that may be chance."""
    kept = sum(map(len, starts))
    if kept < LEAST_FOR_MEMORY or not squares:
        return 0.0
    products = sum(
        (one - mean) * (other - mean)
        for part, mean in zip(starts, means, strict=True)
        for one, other in pairwise(part)
    )
    correlation = products / squares
    if correlation <= CHANCE / math.sqrt(kept):
        return 0.0
    return min(correlation + (1 + 3 * correlation) / kept, MOST_MEMORY)  # Kendall 1954: its bias


def without_outliers(values: Sequence[float]) -> list[float]:
    """The values that are no outliers; all when too many would have to go."""
    middle = statistics.median(values)
    deviation = NORMAL * statistics.median(abs(value - middle) for value in values)
    bound = max(FENCE * deviation, NEAR * abs(middle))
    kept = [value for value in values if abs(value - middle) <= bound]
    return kept if len(kept) >= (1 - MOST_OUTLIERS) * len(values) else list(values)


def more_repeats(
    counts: tuple[int, ...], before: int, more: int, *, restarted: bool
) -> tuple[int, ...]:
    """The repeats of each start, with ``more`` of the last one or of a new one."""
    known = counts or (before,)
    return (*known, more) if restarted else (*known[:-1], known[-1] + more)


def odd_ones(values: Sequence[float]) -> list[int]:
    """The numbers of values beyond the fence of the others and ``ODD`` of the median.

    They need not be outliers; where there are more than ``MOST_OUTLIERS``, none is odd.
    """
    middle = statistics.median(values)
    deviation = NORMAL * statistics.median(abs(value - middle) for value in values)
    bound = max(FENCE * deviation, ODD * abs(middle))
    odd = [number for number, value in enumerate(values) if abs(value - middle) > bound]
    return odd if len(odd) <= MOST_OUTLIERS * len(values) else []


def _parts(values: Sequence[float], counts: Sequence[int]) -> Iterator[Sequence[float]]:
    first = 0
    for count in counts:
        yield values[first : first + count]
        first += count
