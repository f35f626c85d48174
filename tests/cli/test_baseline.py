"""``autodeploy baseline``: show, diff and accept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pytest_autodeploy.cli import autodeploy
from tests.helpers.support import DIGITS

LATENCY = ("--tflite=digits_cnn.tflite", "-k", "latency or fits")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(autodeploy, ["baseline", *arguments])


def measured(pytester: pytest.Pytester, *arguments: str) -> None:
    shutil.copy(DIGITS, pytester.path)
    assert pytester.runpytest(*LATENCY, *arguments).ret == 0


def start_board_with(pytester: pytest.Pytester, *arguments: str) -> None:
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': {[*arguments]}}}\n"
    )


def test_without_files_it_says_how_to_make_them(pytester: pytest.Pytester) -> None:
    words = {"show": "no baseline in", "diff": "no result in", "accept": "no result in"}
    for command, says in words.items():
        result = run(command)
        assert result.exit_code == 1
        assert says in result.output


def test_a_run_can_be_accepted_shown_and_compared(pytester: pytest.Pytester) -> None:
    measured(pytester)
    assert run("diff").exit_code == 1
    accepted = run("accept")
    assert accepted.exit_code == 0, accepted.output
    assert Path("autodeploy-baselines/digits_cnn/apollo4p_evb.simulated.json").exists()
    shown = run("show")
    assert "latency_median" in shown.output
    assert "(modelled, 10 repeats)" in shown.output
    same = run("diff")
    assert same.exit_code == 0
    assert "within what its baseline allows" in same.output
    (kept,) = json.loads(run("show", "--json").output)["baselines"]
    assert kept["entries"]["HP"]["metrics"]["latency_median"]["unit"] == "us"
    (found,) = json.loads(run("diff", "--json").output)["results"]
    assert (found["model"], found["comparison"]["state"]) == ("digits_cnn", "within")


def test_a_slower_run_is_a_difference(pytester: pytest.Pytester) -> None:
    measured(pytester)
    assert run("accept").exit_code == 0
    shutil.rmtree("autodeploy-results")
    Path("autodeploy-baselines").rename("kept")  # so that the run itself passes
    start_board_with(pytester, "--slowdown", "50")
    measured(pytester)
    result = run("diff", "--baselines=kept")
    assert result.exit_code == 1
    assert "worse than its baseline: latency_median +50 %" in result.output


def test_what_failed_is_not_accepted(pytester: pytest.Pytester) -> None:
    shutil.copy(DIGITS, pytester.path)
    assert pytester.runpytest(*LATENCY, "--tflite-latency-budget=us=1").ret == 1
    result = run("accept")
    assert result.exit_code == 1
    assert "not updated, autodeploy::test_latency" in result.output
    assert not Path("autodeploy-baselines").exists()


def test_noisy_values_of_few_repeats_are_no_baseline(pytester: pytest.Pytester) -> None:
    start_board_with(pytester, "--timing-noise", "3")
    measured(pytester)
    result = run("accept")
    assert result.exit_code == 1
    assert "not updated: a baseline of noisy values has 30 repeats" in result.output
    assert "latency_median has 10" in result.output
    assert not list(Path().glob("autodeploy-baselines/*/*.json"))
