"""The gate on noise, a quick slice: tests/benchmarks/bench_gate.py has all kinds, and many more."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.enough import LEAST, OF_BASELINE, WINDOWS_OF_BASELINE
from pytest_autodeploy.baseline.judgement import single
from tests.helpers import synthetic_rig as rigs
from tests.helpers.synthetic_rig import ENERGY, LATENCY, Rig, Shape

PAIRS = 60
NOISY = rigs.with_outliers(rigs.normal(3), 0.1, 3)
STEADY = rigs.normal(0.5)


def states(shape: Shape, slowdown: float) -> Counter[str]:
    """How comparisons end, each with a baseline of its own."""
    found: Counter[str] = Counter()
    for number in range(PAIRS):
        source = random.Random(f"{slowdown} {number}")
        kept = rigs.baseline(Rig(LATENCY, shape, source))
        found[rigs.compared(kept, Rig(LATENCY, shape, source, slowdown)).state] += 1
    return found


@pytest.mark.parametrize(
    "shape",
    [NOISY, rigs.two_modes(rigs.normal(1), 8), rigs.heavy_tails(3)],
    ids=["interrupts", "two modes", "heavy tails"],
)
def test_noise_is_no_regression_and_hides_none(shape: Shape) -> None:
    assert states(shape, 0) == {"within": PAIRS}
    assert states(shape, 10) == {"regression": PAIRS}


def test_an_outlier_in_the_baseline_hides_no_regression() -> None:
    source = random.Random(1)
    rig = Rig(LATENCY, rigs.normal(1), source)
    rig.values[3] *= 10
    kept = rigs.baseline(rig)
    assert kept.metrics["latency_median"].outliers == 1
    result = rigs.compared(kept, Rig(LATENCY, rigs.normal(1), source, 20))
    assert result.state == "regression"
    assert "1 of 30 repeats of the baseline are outliers" in result.rows[0].note


def test_one_repeat_is_never_a_gate() -> None:
    source = random.Random(2)
    kept = rigs.baseline(Rig(LATENCY, rigs.normal(3), source))
    once = replace(LATENCY, first=1)
    now = Rig(once, rigs.normal(3), source, 30)
    stuck = replace(kept.metrics["latency_median"], spread=None, repeats=1)
    assert rigs.compared(kept, now).state == "regression"
    assert len(now.values) >= LEAST
    alone = rigs.compared(replace(kept, metrics={"latency_median": stuck}), now)
    assert alone.state == "cannot tell"
    assert alone.rows[0].note.startswith("the baseline has one repeat, which tells nothing of the")
    few = single(alone.rows[0], (Repeats(1.0, 0.1, 30), Repeats(1.0, 0.1, 2, 1)))
    assert few.note.startswith("this run has one repeat, which tells nothing of the")


def test_a_baseline_has_thirty_repeats_and_eight_windows() -> None:
    for kind, least in ((LATENCY, OF_BASELINE), (ENERGY, WINDOWS_OF_BASELINE)):
        for starts in (1, 5):
            rig = Rig(kind, STEADY, random.Random(3))
            rigs.baseline(rig, starts)
            assert len(rig.values) >= least
            assert len(rig.counts) == starts


@pytest.mark.parametrize("starts", [1, 2, 4])
def test_a_comparison_measures_as_many_starts_as_it_is_asked_for(starts: int) -> None:
    kept = rigs.baseline(Rig(LATENCY, STEADY, random.Random(4)), 5)
    now = Rig(LATENCY, STEADY, random.Random(5))
    assert rigs.compared(kept, now, starts).state == "within"
    assert len(now.counts) == starts


def test_starts_that_differ_cannot_be_told_from_a_change_by_one() -> None:
    found: Counter[str] = Counter()
    for number in range(20):
        source, start = random.Random(number), rigs.starts_of(2)
        kept = rigs.baseline(Rig(LATENCY, STEADY, source, 0.0, start), 5)
        result = rigs.compared(kept, Rig(LATENCY, STEADY, source, 0.0, start))
        found[result.state] += 1
        if result.state == "cannot tell":
            words = (
                r"starts of the board differ by .* %: (--autodeploy-compare-runs \d+ would do|the)"
            )
            assert re.match(words, result.rows[0].note)
    assert found["cannot tell"] >= 12
    assert not found["regression"]


def test_what_is_worse_in_one_start_is_confirmed_by_more() -> None:
    source = random.Random(5)
    kept = rigs.baseline(Rig(LATENCY, STEADY, source), 5)
    now = Rig(LATENCY, STEADY, source, 20)
    assert rigs.compared(kept, now).state == "regression"
    assert len(now.counts) == 6


def test_a_start_in_another_mode_is_no_regression() -> None:
    """All starts of the baseline were in the fast mode; the first one now is in the slow one."""
    source, factors = random.Random(6), iter([1.0] * 5 + [1.06] + [1.0] * 5)
    kept = rigs.baseline(Rig(LATENCY, STEADY, source, 0.0, lambda _source: next(factors)), 5)
    now = Rig(LATENCY, STEADY, source, 0.0, lambda _source: next(factors))
    assert rigs.compared(kept, now).state != "regression"


def test_a_regression_that_cannot_be_confirmed_in_time_is_not_called_one() -> None:
    source = random.Random(7)
    kept = rigs.baseline(Rig(LATENCY, STEADY, source), 5)
    slow = replace(LATENCY, restart_s=100.0)
    result = rigs.compared(kept, Rig(slow, STEADY, source, 20))
    assert result.state == "cannot tell"
    assert "so few starts may all be in another mode" in result.rows[0].note


def test_measuring_more_ends_in_time() -> None:
    source = random.Random(8)
    noisy = rigs.normal(40)
    kept = rigs.baseline(Rig(LATENCY, noisy, source))
    slow = replace(LATENCY, repeat_s=1.0)
    now = Rig(slow, noisy, source)
    began = now.clock_s
    result = rigs.compared(kept, now)
    assert now.clock_s - began < 36
    assert result.state == "cannot tell"
    assert "repeats differ by" in result.rows[0].note


def test_windows_are_as_many_as_the_threshold_needs() -> None:
    counts = {}
    for percent in (0.05, 2):
        source = random.Random(9)
        kept = rigs.baseline(Rig(ENERGY, rigs.normal(percent), source))
        now = Rig(ENERGY, rigs.normal(percent), source)
        assert rigs.compared(kept, now).state == "within"
        counts[percent] = len(now.values)
    assert counts[0.05] == 3
    assert counts[2] > 5
