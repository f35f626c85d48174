"""The smallest difference that repeats and starts can tell apart, held against simulated noise."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_autodeploy.base.repeats import Repeats, summarize
from pytest_autodeploy.base.statistics import student_quantile
from pytest_autodeploy.baseline.precision import (
    by_starts,
    repeats_needed,
    repeats_on_both_sides,
    smallest_difference,
    starts_missing,
    starts_needed,
)


def repeats(spread: float | None, count: int) -> Repeats:
    return Repeats(100.0, spread, count)


def starts(spread: float, count: int) -> Repeats:
    return Repeats(100.0, 0.1, 10 * count, 0, count, spread if count > 1 else None)


@pytest.mark.parametrize(
    ("probability", "freedom", "table"),
    [(0.95, 10, 1.812), (0.99, 18, 2.552), (0.9999, 18, 4.648), (0.9999, 60, 3.962)],
)
def test_quantiles_are_those_of_the_tables(
    probability: float, freedom: float, table: float
) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(table, rel=0.01)


@pytest.mark.parametrize(
    ("probability", "freedom", "scipy"),
    [
        (0.9999, 2, 70.70007107496818),
        (0.9999, 3, 22.203742273205),
        (0.9999, 4, 13.033671720896821),
        (0.999, 1, 318.30883898555015),
        (0.999, 4, 7.173182219782307),
        (0.999, 8, 4.5007909337237235),
        (0.999, 18, 3.6104848848250928),
        (0.999, 38, 3.3190296551103575),
        (0.975, 5, 2.5705818356363146),
        (0.999, 2.5, 13.82219311086596),
        (0.99999, 7.3, 9.687998805207199),
        (0.999, 1000, 3.0984021639129233),
    ],
)
def test_quantiles_are_those_of_scipy(probability: float, freedom: float, scipy: float) -> None:
    """``scipy.stats.t.ppf`` of SciPy 1.17.1."""
    assert student_quantile(probability, freedom) == pytest.approx(scipy, rel=1e-9)


def test_values_without_noise_differ_at_once() -> None:
    assert smallest_difference(repeats(0.0, 10), repeats(0.0, 10)) == 0
    assert smallest_difference(repeats(None, 1), repeats(None, 1)) == 0


def test_noise_makes_the_difference_and_repeats_lessen_it() -> None:
    few, many = (smallest_difference(repeats(3.0, n), repeats(3.0, n)) for n in (10, 40))
    assert few > 2 * many


def test_a_single_value_has_the_deviation_of_the_other_side() -> None:
    known = smallest_difference(repeats(3.0, 10), repeats(None, 1))
    assert known > smallest_difference(repeats(3.0, 10), repeats(3.0, 10))


def test_the_repeats_that_are_needed_are_enough_and_no_more() -> None:
    needed = repeats_on_both_sides(repeats(3.0, 5), 4.0, 1000)
    assert smallest_difference(repeats(3.0, needed), repeats(3.0, needed)) <= 4
    assert smallest_difference(repeats(3.0, needed - 1), repeats(3.0, needed - 1)) > 4
    assert repeats_on_both_sides(repeats(3.0, 5), 4.0, 10) == 10
    assert repeats_on_both_sides(repeats(0.0, 5), 4.0, 1000) == 1


def test_against_a_baseline_the_repeats_of_one_side_are_reckoned() -> None:
    baseline = repeats(3.0, 30)
    needed = repeats_needed(baseline, repeats(3.0, 5), 4.0, 1000)
    assert smallest_difference(baseline, repeats(3.0, needed)) <= 4
    assert smallest_difference(baseline, repeats(3.0, needed - 1)) > 4


def test_starts_that_differ_hide_what_repeats_would_show() -> None:
    apart = by_starts(starts(2.0, 5), starts(2.0, 1))
    assert apart == pytest.approx(7.1732 * 2 * (1 / 5 + 1) ** 0.5, rel=1e-4)
    assert by_starts(starts(2.0, 1), starts(2.0, 1)) == 0  # nobody knows
    assert smallest_difference(starts(2.0, 5), starts(2.0, 1)) == apart


def test_the_starts_that_are_needed_are_enough() -> None:
    baseline, now = starts(2.0, 5), starts(2.0, 1)
    needed = starts_needed(baseline, now, 5.0)
    assert needed == 8
    assert by_starts(baseline, starts(2.0, needed)) <= 5
    assert by_starts(baseline, starts(2.0, needed - 1)) > 5
    assert starts_needed(starts(50.0, 5), now, 1.0) is None


def test_two_modes_of_starts_need_eleven_of_them() -> None:
    assert starts_missing(starts(0.0, 5), starts(0.0, 1)) == 5
    assert starts_missing(starts(0.0, 5), starts(0.0, 6)) == 0
    assert starts_missing(starts(0.0, 1), starts(0.0, 1)) == 0


def false_alarms(draw: Callable[[], Repeats], now: Callable[[], Repeats], pairs: int) -> int:
    """In how many pairs noise alone made the second larger by more than it may."""
    alarms = 0
    for _ in range(pairs):
        one, other = draw(), now()
        alarms += other.centre - one.centre > smallest_difference(one, other)
    return alarms


def test_noise_alone_stays_below_it() -> None:
    source = random.Random(1)

    def draw() -> Repeats:
        return summarize([source.gauss(100, 3) for _ in range(10)])

    assert false_alarms(draw, draw, 2000) <= 6  # 2 are expected


def test_noise_between_starts_stays_below_it() -> None:
    source = random.Random(2)

    def draw(count: int) -> Repeats:
        means = [source.gauss(100, 2) for _ in range(count)]
        values = [source.gauss(mean, 1) for mean in means for _ in range(10)]
        return summarize(values, (10,) * count)

    assert false_alarms(lambda: draw(5), lambda: draw(1), 2000) <= 6  # 2 are expected
