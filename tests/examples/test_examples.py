"""The examples as a user runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.helpers.support import MODELS

EXAMPLES = MODELS.parent


@pytest.fixture
def examples(pytester: pytest.Pytester) -> Path:
    """A copy of the examples in the folder of an inner run."""
    return Path(shutil.copytree(EXAMPLES, pytester.path / "examples"))


@pytest.mark.usefixtures("examples")
def test_the_zero_code_run_passes(pytester: pytest.Pytester) -> None:
    html = ("--html", "report.html", "--self-contained-html")
    result = pytester.runpytest("autodeploy", "--tflite", "examples/models", *html)
    result.assert_outcomes(passed=10)
    assert Path("report.html").stat().st_size > 50_000


@pytest.mark.usefixtures("examples")
def test_the_suite_passes(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("examples/digits_suite")
    result.assert_outcomes(passed=9)


@pytest.mark.usefixtures("examples")
def test_limits_that_are_too_tight_fail_readably(pytester: pytest.Pytester) -> None:
    tight = (
        *("--tflite-tolerance", "lsb=0,reference=xnnpack"),
        *("--tflite-latency-budget", "ms=1"),
        *("--tflite-memory-limit", "arena_kb=1"),
    )
    model = "examples/models/digits_cnn.tflite"
    result = pytester.runpytest("autodeploy", "--tflite", model, *tight)
    result.assert_outcomes(passed=2, failed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        [
            "wrong output: digits_cnn on sim:apollo4p_evb: outputs differ from the PC's",
            "digits_cnn on sim:apollo4p_evb: latency median is over its limit",
            "digits_cnn on sim:apollo4p_evb: arena tuned is over its limit",
        ]
    )
