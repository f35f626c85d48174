"""A model outside of the project must not make pytest overlook the project's ini file."""

from __future__ import annotations

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
    result = pytester.runpytest_subprocess("--tflite", str(outside))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *pytest.ini was not read*write --tflite=PATH with an*"])


def test_with_an_equals_sign_the_limit_holds(pytester: pytest.Pytester, outside: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\nautodeploy_latency_budget = us=1\n")
    result = pytester.runpytest_subprocess(f"--tflite={outside}", "-k", "latency")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_another_overlooked_ini_file_is_told_in_the_header(
    pytester: pytest.Pytester, outside: Path
) -> None:
    Path("pytest.ini").write_text("[pytest]\naddopts = -q\n")
    result = pytester.runpytest_subprocess("--tflite", str(outside), "-k", "fits")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["autodeploy: *pytest.ini was not read*"])


def test_a_node_id_of_the_summary_selects_its_test(
    pytester: pytest.Pytester, outside: Path
) -> None:
    shown = f"../{outside.parent.name}/autodeploy::test_latency[digits_cnn-sim:apollo4p_evb]"
    result = pytester.runpytest_subprocess("--tflite", str(outside), shown)
    assert result.parseoutcomes()["passed"] == 1
