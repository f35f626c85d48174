"""``pytest --tflite``: what the built-in tests do, and when they are there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_autodeploy.reference.process import Process
from tests.helpers.support import DIGITS

SUITE = (
    "test_model_fits",
    "test_outputs_agree",
    "test_latency",
    "test_layer_profile",
    "test_energy",
)


def test_a_model_runs_without_any_test_file(pytester: pytest.Pytester, digits: Path) -> None:
    result = pytester.runpytest("--tflite", digits.name, "-v")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(
        [
            "autodeploy: sim:apollo4p_evb, simulated: figures are modelled, not measured*",
            *(f"*autodeploy::{test}[[]digits_cnn-sim:apollo4p_evb] PASSED*" for test in SUITE),
            "*autodeploy: digits_cnn on sim:apollo4p_evb (simulated)*",
            "HP latency *modelled*",
            "Total estimated MACs *estimated*",
            "Tensor arena used *modelled*",
            "Output agreement *",
        ]
    )


def test_no_process_of_the_pc_is_started_when_nothing_is_compared(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Process] = []
    monkeypatch.setattr(Process, "start", started.append)
    pytester.runpytest("--tflite", digits.name, "-k", "latency").assert_outcomes(
        passed=1, deselected=4
    )
    assert not started


def test_every_model_runs_on_every_board(pytester: pytest.Pytester, digits: Path) -> None:
    shutil.copy(digits, "other.tflite")
    boards = ("--evb", "sim:apollo4p_evb", "--evb", "sim:apollo510_evb")
    result = pytester.runpytest("--tflite", ".", *boards)
    result.assert_outcomes(passed=2 * 2 * len(SUITE))


def test_models_of_one_name_do_not_clash(pytester: pytest.Pytester) -> None:
    for folder in ("a", "b"):
        pytester.mkdir(folder)
        shutil.copy(DIGITS, Path(folder) / "model.tflite")
    result = pytester.runpytest("--tflite", ".", "-v")
    result.assert_outcomes(passed=2 * len(SUITE))
    result.stdout.fnmatch_lines(["*test_latency[[]a/model.tflite-sim:apollo4p_evb] PASSED*"])
    assert sorted(path.name for path in Path("autodeploy-results").glob("*/*/result.json"))
    assert len(list(Path("autodeploy-results").glob("*/*/result.json"))) == 2


@pytest.mark.parametrize("selection", ["autodeploy::test_latency", "-k=latency"])
def test_built_in_tests_can_be_selected(
    pytester: pytest.Pytester, digits: Path, selection: str
) -> None:
    result = pytester.runpytest(selection, "--tflite", digits.name)
    assert result.parseoutcomes()["passed"] == 1


def test_a_failed_built_in_test_runs_again_with_last_failed(
    pytester: pytest.Pytester, digits: Path
) -> None:
    too_tight = ("--tflite", digits.name, "--tflite-latency-budget", "us=0.1")
    pytester.runpytest(*too_tight).assert_outcomes(passed=4, failed=1)
    result = pytester.runpytest(*too_tight, "--lf")
    result.assert_outcomes(failed=1, deselected=4)


def test_a_model_in_the_ini_file_leaves_named_tests_alone(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.makeini(f"[pytest]\nautodeploy_tflite = {digits.name}\n")
    named = pytester.makepyfile("def test_mine(): pass")
    pytester.runpytest(named).assert_outcomes(passed=1)
    pytester.runpytest().assert_outcomes(passed=1 + len(SUITE))


def test_a_model_in_the_ini_file_lets_built_in_tests_be_named(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.makeini(f"[pytest]\nautodeploy_tflite = {digits.name}\n")
    pytester.makepyfile("def test_mine(): pass")
    result = pytester.runpytest("autodeploy::test_latency")
    result.assert_outcomes(passed=1, deselected=len(SUITE) - 1)


def test_no_suite_leaves_only_the_parametrisation(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makepyfile("def test_mine(tflite_model): assert tflite_model.macs > 0")
    result = pytester.runpytest("--tflite", digits.name, "--tflite-no-suite")
    result.assert_outcomes(passed=1)


def test_collecting_starts_nothing_and_writes_nothing(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen.__init__", refuse)
    before = sorted(Path().rglob("*"))
    result = pytester.runpytest_inprocess(
        "--collect-only", "-q", "-p", "no:cacheprovider", "--tflite", digits.name
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["autodeploy::test_latency[[]digits_cnn-sim:apollo4p_evb]"])
    assert sorted(Path().rglob("*")) == before


def test_without_models_the_plugin_says_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*autodeploy:*")


def test_given_inputs_are_quantised_and_run(pytester: pytest.Pytester, digits: Path) -> None:
    shutil.copy(DIGITS.with_name("digits_test.npz"), ".")
    result = pytester.runpytest("--tflite", digits.name, "--tflite-inputs", "digits_test.npz")
    result.assert_outcomes(passed=5)


def test_the_header_tells_where_settings_came_from(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makeini("[pytest]\nautodeploy_runs = 3\n")
    result = pytester.runpytest("--tflite", digits.name, "-k", "outputs")
    result.stdout.fnmatch_lines(
        ["autodeploy: settings: tflite (--tflite), runs (ini autodeploy_runs)"]
    )


pytest_9 = pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 9 brought pytest.toml")


@pytest.mark.parametrize(
    "name", [pytest.param("pytest.toml", marks=pytest_9), "pyproject.toml", "pytest.ini"]
)
def test_settings_come_from_every_kind_of_ini_file(
    pytester: pytest.Pytester, digits: Path, name: str
) -> None:
    tables = {
        "pytest.toml": f'[pytest]\nautodeploy_tflite = ["{digits.name}"]\nautodeploy_runs = 2\n',
        "pyproject.toml": f'[tool.pytest.ini_options]\nautodeploy_tflite = "{digits.name}"\n'
        'autodeploy_runs = "2"\n',
        "pytest.ini": f"[pytest]\nautodeploy_tflite = {digits.name}\nautodeploy_runs = 2\n",
    }
    Path(name).write_text(tables[name])
    pytester.runpytest().assert_outcomes(passed=5)
