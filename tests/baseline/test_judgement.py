"""Where the state of a compared value turns: its threshold, its direction, and its noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.judgement import Sides, judge, single, unconfirmed
from pytest_autodeploy.baseline.precision import by_repeats, by_starts, starts_needed
from pytest_autodeploy.metrics.comparison import Row

EXACT = (Repeats(1000), Repeats(1000))


def row(now: float, baseline: float = 1000) -> Row:
    return Row("latency_median", "us", "measured", baseline, now)


def judged(
    now: float,
    better: str = "lower",
    percent: float | None = 5,
    floor: float = 0,
    sides: Sides = EXACT,
    baseline: float = 1000,
) -> Row:
    return judge(row(now, baseline), better, percent, floor, sides)


def noisy(centre: float, spread: float = 20, count: int = 10, **more: float) -> Repeats:
    return replace(Repeats(centre, spread, count), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (1050.0, "within"),
        (1050.000001, "within"),  # values are kept to nine digits
        (1050.0001, "regression"),
        (950.0, "within"),
        (949.0, "improved"),
        (1000.0, "within"),
    ],
)
def test_a_value_without_noise_turns_at_its_threshold(now: float, state: str) -> None:
    found = judged(now)
    assert (found.state, found.low, found.high) == (state, None, None)
    assert (found.allowed, found.threshold, found.by) == (50, 50, "percentage")
    assert found.worse == pytest.approx(now - 1000)


@pytest.mark.parametrize(("now", "state"), [(1051.0, "improved"), (949.0, "regression")])
def test_of_what_is_better_when_higher_less_is_worse(now: float, state: str) -> None:
    found = judged(now, better="higher")
    assert found.state == state
    assert found.worse == pytest.approx(1000 - now)


@pytest.mark.parametrize(
    ("percent", "floor", "allowed", "by"),
    [
        (5, 60, 60, "floor"),
        (5, 40, 50, "percentage"),
        (None, 2, 2, "floor"),
        (0, 0, 0, "percentage"),
    ],
)
def test_the_larger_of_percentage_and_floor_is_allowed(
    percent: float | None, floor: float, allowed: float, by: str
) -> None:
    at = judged(1000 + allowed, percent=percent, floor=floor)
    assert (at.allowed, at.threshold, at.by, at.state) == (allowed, allowed, by, "within")
    assert judged(1001 + allowed, percent=percent, floor=floor).state == "regression"


def test_a_baseline_below_zero_has_a_percentage_too() -> None:
    assert judged(-960, baseline=-1000).state == "within"
    assert judged(-940, baseline=-1000).state == "regression"


def test_bounds_of_the_change_are_what_noise_leaves_open() -> None:
    sides = noisy(1000), noisy(1030)
    found, half = judged(1030, sides=sides), by_repeats(*sides)
    assert 0 < half < 50
    assert found.low == pytest.approx(30 - half)
    assert found.high == pytest.approx(30 + half)
    assert (found.state, found.by) == ("within", "percentage")


def test_noise_beyond_the_threshold_is_allowed_and_told() -> None:
    sides = noisy(1000, 10), noisy(1010, 10)
    half = by_repeats(*sides)
    found = judged(1010, percent=0.5, sides=sides)
    assert (found.by, found.allowed, found.threshold) == ("repeats", half, 5)
    assert found.state == "cannot tell"
    assert found.note == "repeats differ by 1 %, 10 repeats in the baseline and 10 now"


def test_what_may_be_worse_by_twice_the_threshold_is_not_within() -> None:
    sides = noisy(1000), noisy(1000)
    half = by_repeats(*sides)
    assert judged(1000, floor=half / 2, percent=0, sides=sides).state == "within"
    assert judged(1000, floor=half / 2.001, percent=0, sides=sides).state == "cannot tell"
    assert judged(1000 - half, percent=0, floor=1e-3, sides=sides).state == "within"
    assert judged(999 - half, percent=0, floor=1e-3, sides=sides).state == "improved"


def test_starts_that_differ_name_the_starts_that_would_do() -> None:
    sides = tuple(noisy(1000, 1, 60, starts=8, start_spread=30.0) for _ in range(2))
    found = judged(1010, percent=1, sides=(sides[0], sides[1]))
    assert (found.by, found.state) == ("starts", "cannot tell")
    assert found.allowed == by_starts(sides[0], sides[1])
    assert found.note.startswith("starts of the board differ by 3 %: the 8 of the baseline are too")
    few = replace(sides[1], starts=2)
    wanted = starts_needed(sides[0], few, 60)
    assert wanted is not None
    found = judged(1010, percent=6, sides=(sides[0], few))
    assert found.state == "cannot tell"
    assert found.note == (
        f"starts of the board differ by 3 %: --autodeploy-compare-runs {wanted} would do"
    )


def test_a_regression_by_few_starts_asks_for_as_many_as_it_takes() -> None:
    sides = tuple(noisy(1000, 1, 60, starts=3, start_spread=1.0) for _ in range(2))
    found = judged(1200, sides=(sides[0], sides[1]))
    assert (found.state, found.more_starts) == ("regression", 11 - 6)


def test_outliers_are_counted_on_the_side_that_has_them() -> None:
    sides = noisy(1000, outliers=1), noisy(1000, outliers=2)
    assert judged(1000, sides=sides).note == (
        "1 of 10 repeats of the baseline are outliers and 2 of 10 repeats now are outliers"
    )
    assert judged(1000, sides=(noisy(1000), sides[1])).note == "2 of 10 repeats now are outliers"


@pytest.mark.parametrize(
    ("baseline", "now", "whose"),
    [
        (noisy(1), noisy(1), None),
        (noisy(1, count=2), noisy(1, count=2), None),
        (Repeats(1), noisy(1), "the baseline"),
        (noisy(1), Repeats(1), "this run"),
        (noisy(1, count=2), Repeats(1), "this run"),
        (noisy(1, count=2, outliers=1), noisy(1), "the baseline"),
    ],
)
def test_one_repeat_tells_nothing_of_the_noise(
    baseline: Repeats, now: Repeats, whose: str | None
) -> None:
    found = single(row(1000), (baseline, now))
    assert found.state == ("within" if whose is None else "cannot tell")
    assert found.note == (
        f"{whose} has one repeat, which tells nothing of the noise" if whose else ""
    )


@pytest.mark.parametrize(
    ("missing", "text"), [(1, "1 more start would"), (3, "3 more starts would")]
)
def test_a_regression_that_is_not_confirmed_says_what_would_tell(missing: int, text: str) -> None:
    found = unconfirmed(replace(row(1200), more_starts=missing, note="an outlier"))
    assert found.state == "cannot tell"
    assert text in found.note
    assert found.note.endswith("; an outlier")


def test_noise_around_zero_has_no_percentage() -> None:
    found = judged(0.0, baseline=0.0, floor=1e-3, sides=(noisy(0, 0.5), noisy(0, 0.25)))
    assert found.note.startswith("repeats differ by 0.5, ")
