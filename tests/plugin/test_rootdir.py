"""A model outside of the project must not make pytest overlook the project's ini file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.helpers.support import DIGITS


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in another folder than the project's."""
    return Path(shutil.copy(DIGITS, tmp_path_factory.mktemp("outside")))


def test_a_limit_in_an_overlooked_ini_file_is_an_error(
    pytester: pytest.Pytester, outside: Path
) -> None:
    Path("pytest.ini").write_text("[pytest]\nautodeploy_latency_budget = us=1\n")
    result = pytester.runpytest("--tflite", str(outside))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *pytest.ini was not read*write --tflite=PATH with an*"])


def test_with_an_equals_sign_the_limit_holds(pytester: pytest.Pytester, outside: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\nautodeploy_latency_budget = us=1\n")
    result = pytester.runpytest(f"--tflite={outside}", "-k", "latency")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_another_overlooked_ini_file_is_told_in_the_header(
    pytester: pytest.Pytester, outside: Path
) -> None:
    Path("pytest.ini").write_text("[pytest]\naddopts = -q\n")
    result = pytester.runpytest("--tflite", str(outside), "-k", "fits")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["autodeploy: *pytest.ini was not read*"])


def test_a_node_id_of_the_summary_selects_its_test(
    pytester: pytest.Pytester, outside: Path
) -> None:
    shown = f"../{outside.parent.name}/autodeploy::test_latency[digits_cnn-sim:apollo4p_evb]"
    result = pytester.runpytest("--tflite", str(outside), shown)
    assert result.parseoutcomes()["passed"] == 1


@pytest.fixture
def port(outside: Path) -> Path:
    """What looks like the port of a board, in another folder."""
    path = outside.parent / "5"
    path.touch()
    return path


def test_the_option_that_misled_pytest_is_named(pytester: pytest.Pytester, port: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\nautodeploy_latency_budget = us=1\n")
    result = pytester.runpytest(f"--tflite={DIGITS}", "--evb-port", str(port))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *pytest.ini was not read*write --evb-port=URL with an *"])


def test_so_is_one_of_the_environment(
    pytester: pytest.Pytester, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--evb-port {port}")
    Path("autodeploy-baselines").mkdir()
    result = pytester.runpytest(f"--tflite={DIGITS}")
    result.stderr.fnmatch_lines(["ERROR: *autodeploy-baselines was not found*write --evb-port=*"])


def test_baselines_that_are_not_found_are_an_error(
    pytester: pytest.Pytester, outside: Path
) -> None:
    Path("autodeploy-baselines").mkdir()
    inputs = outside.with_name("inputs.npz")
    inputs.touch()
    arguments = ("--tflite-inputs", str(inputs), f"--tflite={outside}")
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *autodeploy-baselines was not found*write --tflite-inputs=FILE with an *"]
    )


def test_the_ini_file_of_another_project_does_not_stand_in(
    pytester: pytest.Pytester, outside: Path
) -> None:
    Path("pytest.ini").write_text("[pytest]\nautodeploy_latency_budget = us=1\n")
    outside.with_name("pytest.ini").write_text("[pytest]\n")
    result = pytester.runpytest("--tflite", str(outside))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *pytest.ini was not read*write --tflite=PATH with an *"])


def test_a_conftest_that_was_not_read_is_an_error(pytester: pytest.Pytester) -> None:
    below = pytester.mkdir("project")
    Path("outer").mkdir()
    model = shutil.copy(DIGITS, "outer/digits.tflite")
    Path("outer/pytest.ini").write_text("[pytest]\n")
    Path("project/pytest.ini").write_text("[pytest]\n")
    Path("project/conftest.py").write_text("raise SystemExit('read')\n")
    inner = below / "tests"
    inner.mkdir()
    os.chdir(inner)
    arguments = ("--tflite", str(pytester.path / model), "--confcutdir", str(inner))
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *conftest.py was not read*write --tflite=PATH with an *"])


@pytest.mark.parametrize("how", ["inside", "equals sign", "rootdir"])
def test_nothing_is_lost(pytester: pytest.Pytester, outside: Path, how: str) -> None:
    Path("autodeploy-baselines").mkdir()
    Path("conftest.py").touch()
    shutil.copy(DIGITS, "digits.tflite")
    arguments = {
        "inside": ("--tflite", "digits.tflite"),
        "equals sign": (f"--tflite={outside}",),
        "rootdir": ("--tflite", str(outside), f"--rootdir={pytester.path}"),
    }[how]
    assert pytester.runpytest(*arguments, "-k", "fits").ret == 0
