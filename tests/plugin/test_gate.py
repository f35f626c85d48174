"""The gate in whole runs: noise between starts, one repeat, named baselines, odd windows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_autodeploy.cli import autodeploy
from tests.helpers.result_files import result_file

UPDATE = "--autodeploy-update-baseline"
COMPARE = "--autodeploy-compare"
LATENCY = ("--tflite", "digits_cnn.tflite", "-k", "latency")
FILE = Path("autodeploy-baselines", "digits_cnn", "apollo4p_evb.simulated.json")
pytestmark = pytest.mark.usefixtures("digits")


def board(pytester: pytest.Pytester, *arguments: str) -> None:
    """Give the simulated board of an inner run noise of its own."""
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': {list(arguments)!r}}}\n"
    )


def noise(text: str, seed: int) -> tuple[str, ...]:
    return "--timing-noise", text, "--timing-seed", str(seed)


def test_a_baseline_knows_how_starts_differ(pytester: pytest.Pytester) -> None:
    board(pytester, *noise("sd=0.2,run=2", 1))
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0
    kept = json.loads(FILE.read_text())
    latency = kept["entries"]["HP"]["metrics"]["latency_median"]
    assert kept["schema"] == 2
    assert latency["starts"] == 5
    assert latency["repeats"] >= 30
    assert latency["start_spread"] / latency["value"] == pytest.approx(0.02, rel=0.9)


def test_one_start_cannot_tell_and_says_how_many_would(pytester: pytest.Pytester) -> None:
    board(pytester, *noise("sd=0.2,run=2", 1))
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0
    board(pytester, *noise("sd=0.2,run=2", 3), "--slowdown", "4")
    result = pytester.runpytest(*LATENCY, COMPARE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "not judged: digits_cnn on *: cannot tell: latency_median * to +* %, threshold 5 % "
            "(starts of the board differ by *--autodeploy-compare-runs * would do)",
            "no_regression()*NOT JUDGED*",
        ]
    )


def test_one_timed_inference_is_not_a_gate(pytester: pytest.Pytester) -> None:
    board(pytester, *noise("3", 1))
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0
    board(pytester, *noise("3", 2), "--slowdown", "30")
    result = pytester.runpytest(*LATENCY, COMPARE, "--tflite-latency-runs=1")
    result.stdout.fnmatch_lines(["regression: *: worse than its baseline: latency_median +*"])
    (measured,) = (
        each
        for path in Path("autodeploy-results").glob("*/*/result.json")
        for each in result_file(path)["measurements"]
        if each["name"] == "latency_median"
    )
    assert measured["repeated"]["starts"] == 6  # a regression is confirmed by more of them
    assert measured["repeats"] >= 60


@pytest.mark.slow
def test_a_release_can_be_held_against(pytester: pytest.Pytester) -> None:
    against = "--autodeploy-baseline-against=v1.0"
    missing = pytester.runpytest(*LATENCY, against)
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    missing.stderr.fnmatch_lines(["ERROR: --autodeploy-baseline-against: no baselines of that *"])
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0
    kept = CliRunner().invoke(autodeploy, ["baseline", "keep", "v1.0"])
    assert kept.exit_code == 0, kept.output
    board(pytester, "--slowdown", "20")
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0  # what is slower was accepted
    assert pytester.runpytest(*LATENCY, COMPARE).ret == 0
    result = pytester.runpytest(*LATENCY, against)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["regression: *latency_median +20 %"])
    result.stdout.fnmatch_lines(["  baseline autodeploy-baselines/@v1.0/digits_cnn/*"])


def test_a_name_is_kept_once_and_is_no_path(pytester: pytest.Pytester) -> None:
    assert pytester.runpytest(*LATENCY, UPDATE).ret == 0
    outcomes = {
        name: CliRunner().invoke(autodeploy, ["baseline", "keep", name]).exit_code
        for name in ("v1", "../v2", "v1 ")
    }
    assert outcomes == {"v1": 0, "../v2": 2, "v1 ": 2}
    again = CliRunner().invoke(autodeploy, ["baseline", "keep", "v1"])
    assert again.exit_code == 1
    assert "already" in again.output
    assert CliRunner().invoke(autodeploy, ["baseline", "show"]).output.count("HP") == 1


@pytest.mark.slow
def test_energy_takes_as_many_windows_as_its_noise_needs(pytester: pytest.Pytester) -> None:
    energy = ("--tflite", "digits_cnn.tflite", "-k", "energy", "--autodeploy-power-window=0.1")
    board(pytester, "--power-noise", "1", "--timing-seed", "1")
    assert pytester.runpytest(*energy, UPDATE, "--autodeploy-baseline-runs=1").ret == 0
    kept = json.loads(FILE.read_text())["entries"]["HP"]["metrics"]["energy_hp"]
    assert kept["repeats"] >= 8
    board(pytester, "--power-noise", "1", "--timing-seed", "2")
    assert pytester.runpytest(*energy, COMPARE).ret == 0
    board(pytester, "--power-noise", "1", "--timing-seed", "3", "--slowdown", "10")
    result = pytester.runpytest(*energy, COMPARE)
    result.stdout.fnmatch_lines(["regression: *: worse than its baseline: energy_hp +*"])


def test_a_window_that_differs_is_named(pytester: pytest.Pytester) -> None:
    energy = ("--tflite", "digits_cnn.tflite", "-k", "energy", "--autodeploy-power-window=0.1")
    board(pytester, "--power-noise", "sd=0.1,outlier=0.2x1.1", "--timing-seed", "8")
    result = pytester.runpytest(*energy, "-v", "--autodeploy-power-repeats=8")
    result.stdout.fnmatch_lines(["*of 8 windows, windows * (+* %) differ from the others*"])
