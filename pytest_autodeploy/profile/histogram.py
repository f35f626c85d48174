"""How the times of inferences are spread."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.profile.records import Histogram

MOST_BINS = 24


def histogram(samples_us: Sequence[float], source: Source) -> Histogram | None:
    """The histogram of times, with about twice the root of their number as bins; None of none."""
    if not samples_us:
        return None
    low, high = min(samples_us), max(samples_us)
    bins = min(MOST_BINS, max(1, round(2 * len(samples_us) ** 0.5))) if high > low else 1
    counts = [0] * bins
    for sample in samples_us:
        at = int((sample - low) / (high - low) * bins) if high > low else 0
        counts[min(at, bins - 1)] += 1
    return Histogram(low, high, tuple(counts), source)
