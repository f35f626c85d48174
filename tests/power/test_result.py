"""What is told of several windows, and how many inferences they have."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest

from pytest_autodeploy.base.statistics import spread, student_t
from pytest_autodeploy.power.plan import plan
from pytest_autodeploy.power.window import Window
from pytest_autodeploy.session.energy import Energy, Waveform
from tests.helpers.power_streams import VOLTS, found, stream

AMPERES = (0.0200, 0.0201, 0.0202)


def energy(*amperes: float, inferences: int = 4) -> Energy:
    windows = [found(stream(np.full(20_000, a)).chunks(1 << 16))[0] for a in amperes]
    return Energy("LP", inferences, tuple(windows), "measured", "a meter")


def test_energy_time_power_and_charge_are_per_inference() -> None:
    result = energy(0.02)
    assert result.uj == pytest.approx(0.02 * VOLTS * 0.01 / 4 * 1e6)
    assert result.us == pytest.approx(2500)
    assert result.mean_mw == pytest.approx(36)
    assert result.uc == pytest.approx(50)
    assert result.uj == pytest.approx(result.mean_mw * result.us / 1e3)


def test_measurements_carry_mode_source_and_spread() -> None:
    result = energy(*AMPERES)
    by_name = {m.name: m for m in result.measurements()}
    assert set(by_name) == {
        *("energy_lp", "energy_resolution_lp", "power_lp", "power_peak_lp", "power_idle_lp"),
        *("power_time_lp", "charge_lp"),
    }
    of_windows = [a * VOLTS * 0.01 / 4 * 1e6 for a in AMPERES]
    assert by_name["energy_lp"].value == pytest.approx(statistics.fmean(of_windows))
    assert by_name["energy_lp"].spread == pytest.approx(statistics.stdev(of_windows), rel=1e-4)
    assert by_name["energy_lp"].repeats == 3
    assert {m.source for m in by_name.values()} == {"measured"}


def test_one_window_has_no_spread() -> None:
    (first, *_) = energy(0.02).measurements()
    assert first.spread is None
    assert energy(0.02).per_inference.resolution is None


def test_the_resolution_is_that_of_the_two_sample_t_test() -> None:
    values = [10.0, 10.2, 10.4]
    least = 2.776 * statistics.stdev(values) * (2 / 3) ** 0.5
    assert spread(values, edge=0).resolution == pytest.approx(least)


def test_differences_below_a_sample_at_each_edge_are_never_real() -> None:
    assert spread([10.0, 10.0, 10.0], edge=0.3).resolution == 0.3


def test_differences_beyond_the_resolution_are_seldom_by_chance() -> None:
    random = np.random.default_rng(0)
    pairs = random.normal(10, 0.1, (4000, 2, 5))
    least = [spread(pair[0].tolist(), 0).resolution or 0 for pair in pairs]
    differ = np.abs(pairs.mean(axis=2)[:, 0] - pairs.mean(axis=2)[:, 1]) > least
    assert 0.02 < differ.mean() < 0.10


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.706), (4, 2.776), (40, 2.021), (120, 1.980)])
def test_students_t(freedom: int, value: float) -> None:
    assert student_t(freedom) == pytest.approx(value, abs=2e-3)


@pytest.mark.parametrize(
    ("latency_us", "runs", "inferences", "least_s"),
    [(320_000, None, 4, 1.0), (50, None, 20_400, 1.0), (3e6, None, 1, 1.0), (50, 7, 7, 0.0)],
)
def test_inferences_are_planned_from_the_latency(
    latency_us: float, runs: int | None, inferences: int, least_s: float
) -> None:
    planned = plan(latency_us, 1.0, runs)
    assert (planned.inferences, planned.least_s) == (inferences, least_s)
    assert planned.most_s > 1e-6 * inferences * latency_us


def test_windows_that_differ_are_told_with_their_numbers() -> None:
    assert energy(0.02, 0.02, 0.0201).odd == ""
    one = energy(*[0.02] * 6, 0.022)
    assert one.odd == "of 7 windows, window 7 (+10 %) differ from the others"
    two = energy(0.018, *[0.02] * 5, 0.022)
    assert two.odd == "of 7 windows, windows 1 (-10 %), 7 (+10 %) differ from the others"


def test_an_edge_is_a_sample_at_the_mean_power_on_both_sides() -> None:
    found = energy(0.02, 0.02)
    joules = 2 * 0.02 * VOLTS / 2e6 / 4
    assert found.per_inference.resolution == pytest.approx(1e6 * joules)


def test_mean_power_is_all_energy_over_all_time_and_peak_the_highest() -> None:
    found = energy(0.02, 0.04)
    assert found.mean_mw == pytest.approx(1e3 * VOLTS * 0.03)
    assert found.peak_mw == pytest.approx(1e3 * VOLTS * 0.04)
    assert found.idle_mw == pytest.approx(1e3 * VOLTS * 1e-3)
    assert found.measurement("power_idle").value == found.idle_mw


def test_without_idle_power_none_is_told() -> None:
    found = energy(0.02)
    (window,) = found.windows
    assert isinstance(window, Window)
    unseen = replace(found, windows=(replace(window, idle_w=None),))
    assert unseen.idle_mw is None
    assert "power_idle_lp" not in {each.name for each in unseen.measurements()}
    half = replace(found, windows=(*unseen.windows, *found.windows))
    assert half.idle_mw == found.idle_mw


@pytest.mark.parametrize(("bins", "wide", "shown"), [(1, 1, 1), (320, 1, 320), (321, 2, 161)])
def test_a_waveform_is_shown_in_320_bins_at_most(bins: int, wide: int, shown: int) -> None:
    values = tuple(float(number) for number in range(bins))
    found = Waveform(0.5, values, values, values, (0.0, 1.0)).shown()
    assert (len(found.most), found.bin_s) == (shown, 0.5 * wide)
    assert found.least[:2] == tuple(values[::wide][:2])
    assert found.most[0] == wide - 1
    assert found.mean[0] == (wide - 1) / 2
    assert found.window_s == (0.0, 1.0)
