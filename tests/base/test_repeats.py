"""What repeats say: outliers are left out, modes are not, starts are told apart."""

from __future__ import annotations

import random
import statistics

import pytest

from pytest_autodeploy.base.repeats import Repeats, more_repeats, odd_ones, summarize

STEADY = [99.0, 100.0, 101.0, 100.0, 99.5, 100.5, 100.0, 99.0, 101.0, 100.0]


def test_normal_repeats_are_all_kept() -> None:
    source = random.Random(1)
    values = [source.gauss(100, 3) for _ in range(1000)]
    said = summarize(values)
    assert said.outliers == 0
    assert said.centre == pytest.approx(statistics.fmean(values))
    assert said.spread == pytest.approx(statistics.stdev(values))


@pytest.mark.parametrize("far", [300.0, 1000.0, 1.0])
def test_outliers_are_left_out_and_counted(far: float) -> None:
    said = summarize([*STEADY, far, far])
    assert (said.outliers, said.count, said.kept) == (2, 12, 10)
    assert said.centre == pytest.approx(100)
    assert said.spread == pytest.approx(statistics.stdev(STEADY))


def test_two_modes_that_are_near_both_count() -> None:
    """Seven in one mode and three in the other: these are no outliers."""
    said = summarize([*[100.0] * 7, *[108.0] * 3])
    assert said.outliers == 0
    assert said.centre == pytest.approx(102.4)


def test_where_too_many_would_go_all_stay() -> None:
    said = summarize([*[100.0] * 6, *[300.0] * 4])
    assert said.outliers == 0
    assert said.centre == pytest.approx(180)


def test_one_repeat_has_no_spread() -> None:
    assert summarize([5.0]) == Repeats(5.0, None, 1, 0, 1, None)


def test_starts_have_means_of_their_own() -> None:
    said = summarize([99.0, 101.0, 109.0, 111.0], (2, 2))
    assert (said.centre, said.starts) == (105.0, 2)
    assert said.spread == pytest.approx(2**0.5)
    assert said.start_spread == pytest.approx(statistics.stdev([100, 110]))


def test_outliers_are_those_of_their_start() -> None:
    """A start in another mode has no outlier, however far the mode is."""
    said = summarize([*STEADY, *(3 * value for value in STEADY)], (10, 10))
    assert said.outliers == 0


def test_repeats_are_added_to_the_last_start_or_a_new_one() -> None:
    assert more_repeats((), 10, 5, restarted=False) == (15,)
    assert more_repeats((), 10, 5, restarted=True) == (10, 5)
    assert more_repeats((10, 5), 15, 5, restarted=False) == (10, 10)


def test_a_window_that_differs_from_the_others_is_named() -> None:
    assert odd_ones([100.0, 100.1, 110.0, 99.9]) == [2]
    assert odd_ones([100.0, 110.0, 100.0]) == [1]
    assert odd_ones([100.0, 104.0, 97.0, 110.0]) == []
    assert odd_ones([100.0, 100.5]) == []
