"""How many repeats and starts a baseline or a comparison gets, and what ends them before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.enough import Enough, Noisy, least_of_baseline
from pytest_autodeploy.baseline.format import Entry
from pytest_autodeploy.baseline.format import Metric as Kept
from pytest_autodeploy.baseline.precision import (
    repeats_in_each_start,
    repeats_needed,
    repeats_on_both_sides,
)
from pytest_autodeploy.limits.declarations import REGRESSION, default_regression
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.metric import Metric
from tests.helpers.baseline_examples import CONDITIONS

STEADY = Repeats(1000, 0.0, 1)


@dataclass
class Timed(Metric):
    """A latency whose repeats take a while each, of a board that can be restarted so often."""

    found: dict[str, Repeats] = field(default_factory=lambda: {"latency_median": STEADY})
    seconds: float = 0.0
    restarts_left: int = 99
    asked: list[tuple[str, int, bool]] = field(default_factory=list)
    refuses: bool = False
    now: float = 100.0

    def provide(self, *_: object) -> None: ...

    def measured(self, *_: object) -> bool:
        return True

    def rows(self, *_: object) -> Iterable[Any]:
        return ()

    def measurements(self, *_: object) -> Iterable[Measurement]:
        for name, repeated in self.found.items():
            unit = "uJ" if name.startswith("energy") else "us"
            yield Measurement(name, repeated.centre, unit, "lower", "modelled", repeated=repeated)

    def repeat(self, _subject: object, name: str, count: int, /, *, restarted: bool) -> bool:
        if self.refuses:
            return False
        self.asked.append((name, count, restarted))
        self.now += self.seconds * count
        before = self.found[name]
        more = {"count": before.count + count, "starts": before.starts + restarted}
        self.found[name] = Repeats(before.centre, before.spread, **more)
        return True

    def restart(self) -> None:
        if not self.restarts_left:
            raise BoardRefused("no", status="x", text="no", board="b")
        self.restarts_left -= 1

    @property
    def counts(self) -> list[int]:
        return [count for _, count, restarted in self.asked if not restarted]

    @property
    def anew(self) -> list[tuple[str, int]]:
        return [(name, count) for name, count, restarted in self.asked if restarted]


def enough(metric: Timed, seconds: float = 1e9, limit: NoRegression | None = None) -> Enough:
    subject = SimpleNamespace(board=metric)
    limit = limit or default_regression()
    return Enough(cast(Any, subject), [metric], limit, seconds, lambda: metric.now)


def kept(value: float = 1000, name: str = "latency_median", **more: Any) -> Entry:
    unit = "uJ" if name.startswith("energy") else "us"
    return Entry(CONDITIONS, {name: Kept(value, unit, "lower", "modelled", **more)})


def test_a_baseline_has_thirty_repeats_or_eight_windows_in_all() -> None:
    assert least_of_baseline("latency_median") == 30
    assert least_of_baseline("energy_hp") == 8


@pytest.mark.parametrize(
    ("name", "starts", "each"),
    [
        ("latency_median", 1, 30),
        ("latency_median", 2, 15),
        ("latency_median", 4, 10),  # the least of a start
        ("energy_lp", 1, 8),
        ("energy_lp", 3, 3),  # no start has less than its share
        ("energy_lp", 5, 2),
        ("energy_lp", 8, 2),
    ],
)
def test_each_start_of_a_baseline_has_its_share_of_the_repeats(
    name: str, starts: int, each: int
) -> None:
    assert Noisy(name, Timed(), STEADY, allowed=50).of_baseline_start(starts) == each


def test_noise_makes_a_baseline_have_more_repeats() -> None:
    """It is to tell apart 80 % of what is allowed, and the noise of its starts 80 % of that."""
    noisy = Repeats(1000, 40.0, 5)
    one = repeats_on_both_sides(noisy, 0.8 * 25, 1000)
    assert 30 < one < 1000
    assert Noisy("latency_median", Timed(), noisy, 25).of_baseline_start(1) == one
    five = repeats_in_each_start(noisy, 5, 0.8 * 0.8 * 25, 1000)
    assert max(10, -(-one // 5)) < five < 1000
    assert Noisy("latency_median", Timed(), noisy, 25).of_baseline_start(5) == five


@pytest.mark.parametrize(("name", "most"), [("latency_median", 1000), ("energy_hp", 200)])
def test_repeats_are_at_most_a_hundred_times_the_least(name: str, most: int) -> None:
    assert Noisy(name, Timed(), Repeats(1, 1.0, 5), 1e-6).of_baseline_start(1) == most


def test_a_baseline_of_several_starts_measures_as_much_in_each() -> None:
    metric = Timed()
    enough(metric).for_baseline(2)
    assert sum(metric.counts) == 15 - 1
    assert metric.anew == [("latency_median", 15)]


def test_one_start_is_never_restarted() -> None:
    metric = Timed()
    enough(metric).for_baseline(1)
    enough(metric).against(kept(), 1)
    assert metric.anew == []
    assert sum(metric.counts) == 30 - 1


def test_a_comparison_has_ten_repeats_in_each_start() -> None:
    metric = Timed()
    enough(metric).against(kept(repeats=30), 3)
    assert metric.counts == [5, 4]
    assert metric.anew == [("latency_median", 10)] * 2


def test_a_comparison_has_as_many_repeats_as_the_noise_takes() -> None:
    noisy = Repeats(1000, 150.0, 5)
    metric = Timed({"latency_median": noisy})
    enough(metric).against(kept(spread=150.0, repeats=1000), 1)
    needed = repeats_needed(Repeats(1000, 150.0, 1000), noisy, 0.8 * 50, 1000)
    assert 100 < needed < 1000
    assert metric.found["latency_median"].count == needed


def test_starts_are_compared_with_starts_of_as_many_repeats() -> None:
    metric = Timed()
    enough(metric).against(kept(repeats=60, starts=3, start_spread=1.0), 1)
    assert metric.found["latency_median"].count == 20
    metric = Timed()
    enough(metric).against(kept(repeats=60), 1)
    assert metric.found["latency_median"].count == 10


def test_what_the_baseline_does_not_have_gets_no_more_repeats() -> None:
    metric = Timed({"energy_hp": Repeats(9, 0.0, 1), "latency_median": STEADY})
    enough(metric).against(kept(), 1)
    assert {name for name, _, _ in metric.asked} == {"latency_median"}


def test_what_is_not_compared_or_has_no_repeats_gets_none() -> None:
    metric = Timed({"output_distance": STEADY, "latency_median": STEADY, "latency_p95": STEADY})
    enough(metric, limit=declare(REGRESSION, latency="off").limit).for_baseline(1)
    assert {name for name, _, _ in metric.asked} == {"output_distance"}


@pytest.mark.parametrize(
    ("each", "seconds", "counts"),
    [
        (1.0, 12.0, [5, 7]),  # what fits into the time
        (0.5, 6.0, [5, 7]),
        (1.0, 5.5, [5, 1]),  # one, where a part of one is left
        (1.0, 5.0, [5]),
        (1.0, 0.0, []),
        (1.0, 1000.0, [5, 24]),
    ],
)
def test_the_time_that_is_left_bounds_the_repeats(
    each: float, seconds: float, counts: list[int]
) -> None:
    metric = Timed(seconds=each)
    enough(metric, seconds).for_baseline(1)
    assert metric.counts == counts


def test_no_start_is_begun_without_time() -> None:
    metric = Timed({"latency_median": Repeats(1000, 0.0, 30)}, seconds=1.0)
    assert not enough(metric, 25).start_anew(3)
    assert metric.anew == [("latency_median", 30)]
    assert metric.restarts_left == 98


def test_a_board_that_cannot_be_restarted_stays_in_its_start() -> None:
    metric = Timed(restarts_left=1)
    assert not enough(metric).start_anew(3)
    assert len(metric.anew) == 1
    assert enough(Timed()).start_anew(3)


def test_what_cannot_be_repeated_stays_as_it_is() -> None:
    metric = Timed(refuses=True)
    measures = enough(metric)
    measures.for_baseline(3)
    assert metric.asked == []
    assert not measures.start_anew(1)


def test_only_what_is_named_is_measured_in_a_new_start() -> None:
    metric = Timed({"energy_hp": Repeats(9, 0.0, 4), "latency_median": STEADY})
    measures = enough(metric)
    assert measures.start_anew(1, ["energy_hp"])
    assert metric.anew == [("energy_hp", 4)]
    assert measures.start_anew(1, [])
    assert metric.restarts_left == 98


def test_a_new_start_has_as_many_repeats_as_those_before() -> None:
    metric = Timed({"latency_median": Repeats(1000, 0.0, 60, starts=3)})
    assert enough(metric).start_anew(2)
    assert metric.anew == [("latency_median", 20)] * 2
    counted: Mapping[str, int] = {"latency_median": 7}
    assert enough(metric).start_anew(1, counts=counted)
    assert metric.anew[-1] == ("latency_median", 7)


def test_a_small_value_may_be_worse_by_its_floor() -> None:
    """5 % of 20 us is less than the floor of 10 us: the noise is held against that."""
    noisy = Repeats(20, 10.0, 5)
    metric = Timed({"latency_median": noisy})
    enough(metric).against(kept(20, spread=10.0, repeats=100), 1)
    needed = repeats_needed(Repeats(20, 10.0, 100), noisy, 0.8 * 10, 1000)
    assert 10 < needed < 1000
    assert metric.found["latency_median"].count == needed
