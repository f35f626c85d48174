"""The smallest difference that repeats can tell apart, held against simulated noise."""

from __future__ import annotations

import random
import statistics

import pytest

from pytest_autodeploy.baseline.precision import (
    repeats_needed,
    smallest_difference,
    student_quantile,
)


@pytest.mark.parametrize(
    ("probability", "freedom", "table"),
    [(0.95, 10, 1.812), (0.99, 18, 2.552), (0.9999, 18, 4.648), (0.9999, 60, 3.962)],
)
def test_quantiles_are_those_of_the_tables(
    probability: float, freedom: float, table: float
) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(table, rel=0.01)


def test_values_without_noise_differ_at_once() -> None:
    assert smallest_difference((0.0, 10), (0.0, 10)) == 0
    assert smallest_difference((None, 1), (None, 1)) == 0


def test_noise_makes_the_difference_and_repeats_lessen_it() -> None:
    few, many = (smallest_difference((3.0, n), (3.0, n)) for n in (10, 40))
    assert few > 2 * many


def test_a_single_value_has_the_deviation_of_the_other_side() -> None:
    known = smallest_difference((3.0, 10), (None, 1))
    assert known > smallest_difference((3.0, 10), (3.0, 10))


def test_the_repeats_that_are_needed_are_enough_and_no_more() -> None:
    needed = repeats_needed(3.0, 4.0, 1000)
    assert smallest_difference((3.0, needed), (3.0, needed)) <= 4
    assert smallest_difference((3.0, needed - 1), (3.0, needed - 1)) > 4
    assert repeats_needed(3.0, 4.0, 20) == 20
    assert repeats_needed(0.0, 4.0, 1000) == 1


def test_noise_alone_stays_below_it() -> None:
    source = random.Random(1)
    alarms = 0
    for _ in range(1000):
        one, other = ([source.gauss(100, 3) for _ in range(10)] for _ in range(2))
        spreads = [(statistics.stdev(side), 10) for side in (one, other)]
        apart = abs(statistics.median(one) - statistics.median(other))
        alarms += apart > smallest_difference(*spreads)
    assert alarms <= 1
