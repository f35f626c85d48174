"""Noise on the simulated board: no false alarms, no slowdown missed, at the default thresholds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_autodeploy.baseline.update import update_baselines
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.noisy_session import gate, judged, measure, record, session, without_tflm

pytestmark = pytest.mark.slow

RUNS = 200
NOISE_PERCENT = 3


def make_baseline(folder: Path, noise: TimingNoise) -> None:
    """A baseline as a run with ``--autodeploy-update-baseline`` makes it."""
    measured = session(noise)
    measure(measured, gate(folder, update="all"))
    records = [record(measured)]
    limit = default_regression()
    update = update_baselines(
        records, folder, folder, mode="all", plugin_version="0.1.0", limit=limit
    )
    assert not update.problems


def comparisons(folder: Path, slowdown: float = 0) -> list[Comparison]:
    """The comparisons of 200 runs, each with a baseline of its own."""
    found = []
    with without_tflm():
        for seed in range(RUNS):
            baselines = folder / str(seed)
            make_baseline(baselines, TimingNoise(NOISE_PERCENT, 2 * seed))
            measured = session(TimingNoise(NOISE_PERCENT, 2 * seed + 1, slowdown))
            comparison = judged(measured, gate(baselines)).evidence.comparison
            assert isinstance(comparison, Comparison)
            found.append(comparison)
    return found


def latency_states(found: list[Comparison]) -> Counter[str]:
    """The states of the latency alone."""
    return Counter(r.state for each in found for r in each.rows if r.name == "latency_median")


def test_unchanged_runs_give_no_false_alarm(tmp_path: Path) -> None:
    found = comparisons(tmp_path)
    assert Counter(each.state for each in found) == {"within": RUNS}
    assert all(len(each.layers) == 7 for each in found)


def test_a_slowdown_of_ten_percent_is_always_caught(tmp_path: Path) -> None:
    found = comparisons(tmp_path, slowdown=10)
    assert latency_states(found) == {"regression": RUNS}


def test_without_noise_a_slowdown_beyond_the_threshold_is_caught(tmp_path: Path) -> None:
    with without_tflm():
        make_baseline(tmp_path, TimingNoise())
        slower = {}
        for percent in (4.9, 5.1):
            comparison = judged(
                session(TimingNoise(slowdown=percent)), gate(tmp_path)
            ).evidence.comparison
            assert isinstance(comparison, Comparison)
            slower[percent] = comparison.state
    assert slower == {4.9: "within", 5.1: "regression"}
