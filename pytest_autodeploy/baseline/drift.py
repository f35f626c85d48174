"""Whether a metric drifts over many runs, though each of them passed, or has changed at one commit.

Two shapes are fitted to the last runs by least squares: a level that changes once, and a level that
becomes a slope. The better one counts when its change is beyond what noise would show in one of
1,000 histories; the noise is that of a run against the next, which neither shape adds much to.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_autodeploy.base.repeats import NORMAL
from pytest_autodeploy.baseline.precision import ALPHA

LEAST_RUNS = 8
LEAST_SIDE = 3
"""Runs on each side of a change: a single outlier is none."""


@dataclass(frozen=True)
class Drift:
    """A change over runs: from which on, how it went, and the levels before and now."""

    since: int
    slow: bool
    before: float
    now: float


def find_drift(values: Sequence[float], errors: Sequence[float]) -> Drift | None:
    """The change that explains the values best, None where noise does.

    ``errors`` are the standard errors of the values by themselves, 0 where that is unknown.
    """
    if len(values) < LEAST_RUNS:
        return None
    noise = max(_noise_between(values), statistics.median(errors), 1e-9 * max(map(abs, values)))
    smooth = _without_single_ones(values)
    best = max(_best_step(smooth), _best_slope(smooth), key=lambda fit: fit.gain)
    # Each place is looked at, so that chance has as many tries.
    bound = statistics.NormalDist().inv_cdf(1 - ALPHA / (2 * len(values)))
    return best.drift if best.gain > (bound * noise) ** 2 else None


def _without_single_ones(values: Sequence[float]) -> list[float]:
    """Medians of three, the first and the last twice: what one run alone shows is none."""
    inner = [statistics.median(values[n : n + 3]) for n in range(len(values) - 2)]
    return [inner[0], *inner, inner[-1]]


@dataclass(frozen=True)
class _Fit:
    """A drift, and how much of the sum of squares it explains."""

    drift: Drift
    gain: float


def _noise_between(values: Sequence[float]) -> float:
    """The deviation of runs, by how each differs from the next: changes of level hardly count."""
    steps = [after - before for before, after in pairwise(values)]
    middle = statistics.median(steps)
    return NORMAL * statistics.median(abs(step - middle) for step in steps) / math.sqrt(2)


def _best_step(values: Sequence[float]) -> _Fit:
    """A level that changes once."""
    import numpy as np

    count = len(values)
    first = np.arange(LEAST_SIDE, count - LEAST_SIDE + 1)
    sums = np.cumsum(np.asarray(values) - values[0])
    before, after = sums[first - 1] / first, (sums[-1] - sums[first - 1]) / (count - first)
    gains = first * (count - first) / count * (after - before) ** 2
    best = int(gains.argmax())
    levels = values[0] + float(before[best]), values[0] + float(after[best])
    return _Fit(Drift(int(first[best]), False, *levels), float(gains[best]))


def _best_slope(values: Sequence[float]) -> _Fit:
    """A level up to a run, from which on each run adds the same."""
    import numpy as np

    count = len(values)
    first = np.arange(count - LEAST_RUNS + 1)
    rises = np.maximum(0, np.arange(count) - first[:, np.newaxis])
    rises = rises - rises.mean(axis=1, keepdims=True)
    centred = np.asarray(values) - np.mean(values)
    together, squares = rises @ centred, (rises**2).sum(axis=1)
    gains = together**2 / squares
    best = int(gains.argmax())
    slope = float(together[best] / squares[best])
    level = float(np.mean(values)) + slope * float(rises[best, 0])
    now = level + slope * (count - 1 - best)
    return _Fit(Drift(best, True, level, now), float(gains[best]))
