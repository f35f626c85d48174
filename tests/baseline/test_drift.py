"""Which change over runs counts as a drift, which shape it has, and from which run on it is."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest

from pytest_autodeploy.baseline.drift import Drift, find_drift
from pytest_autodeploy.baseline.precision import ALPHA


def drift(values: list[float], error: float = 0.0) -> Drift | None:
    return find_drift(values, [error] * len(values))


@pytest.mark.parametrize(("before", "after"), [(3, 7), (7, 3), (10, 10), (4, 4)])
def test_a_step_is_told_with_its_run_and_both_levels(before: int, after: int) -> None:
    found = drift([1000.0] * before + [1010.0] * after)
    assert found == Drift(before, False, 1000, 1010)


def test_seven_runs_are_too_few_for_any_drift() -> None:
    assert drift([1000.0] * 4 + [1010.0] * 3) is None
    assert drift([1000.0] * 4 + [1010.0] * 4) is not None


def test_a_step_has_three_runs_on_each_side() -> None:
    for values in ([1000.0] * 8 + [1010.0] * 2, [1000.0] * 2 + [1010.0] * 8):
        found = drift(values)
        assert found is None or found.slow or found.since not in (2, 8)


@pytest.mark.parametrize("count", [8, 20])
def test_a_steady_rise_has_no_noise(count: int) -> None:
    """Of both ends, whose values no other run confirms, a little is not believed."""
    found = drift([1000.0 + number for number in range(count)])
    assert found is not None
    assert found.slow
    assert found.since <= 1
    assert count - 3 < found.now - found.before < count


@pytest.mark.parametrize("flat", [10, 12, 30])
def test_a_rise_is_told_from_the_last_run_before_it(flat: int) -> None:
    found = drift([1000.0] * flat + [1000.0 + 10 * number for number in range(1, 13)])
    assert found is not None
    assert found.slow
    assert found.since == flat - 1
    assert found.before == pytest.approx(1000, abs=1)
    assert found.now == pytest.approx(1120, abs=3)


def test_a_rise_is_of_eight_runs_at_least() -> None:
    found = drift([1000.0] * 14 + [1000.0 + 10 * number for number in range(1, 7)])
    assert found is not None
    assert not found.slow or found.since <= 12


@pytest.mark.parametrize(("share", "counts"), [(0.99, False), (1.01, True)])
def test_a_change_counts_beyond_what_one_of_a_thousand_histories_shows(
    share: float, counts: bool
) -> None:
    """A step between two means of ten has the deviation of sqrt(1/10 + 1/10) of one run."""
    error = 2.0
    bound = NormalDist().inv_cdf(1 - ALPHA / (2 * 20)) * error * math.sqrt(1 / 10 + 1 / 10)
    values = [1000.0] * 10 + [1000.0 + share * bound] * 10
    assert (drift(values, error) is not None) is counts


def test_rounding_is_no_change() -> None:
    large = 1e6
    assert drift([large] * 10 + [large + 1e-4] * 10) is None
    assert drift([large] * 10 + [large + 1e-1] * 10) is not None


def test_the_noise_is_that_of_one_run_against_the_next() -> None:
    """A step of 1.7 deviations is found by 50 runs: their means differ by six of their own."""
    found = 0
    for seed in range(20):
        noise = random.Random(seed)
        values = [noise.gauss(1000, 20) + (34 if number >= 25 else 0) for number in range(50)]
        found += drift(values) is not None
    assert found >= 16
