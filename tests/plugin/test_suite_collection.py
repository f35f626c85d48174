"""Which built-in tests are there, and how they are named on the command line."""

from __future__ import annotations

import shutil

import pytest

from tests.helpers.collecting import SIM, write
from tests.helpers.support import DIGITS

OUTPUTS = "autodeploy::test_outputs_agree"


@pytest.fixture(autouse=True)
def models(pytester: pytest.Pytester) -> None:
    """Two models beside the test file."""
    for name in ("digits_cnn", "other"):
        shutil.copy(DIGITS, f"{name}.tflite")


def suite(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """All tests that pytest collects."""
    result = pytester.runpytest_inprocess("--collect-only", "-q", *arguments)
    assert result.ret == pytest.ExitCode.OK, result.stderr.str()
    return [line for line in result.outlines if "::" in line]


def test_the_built_in_tests_join_those_that_are_named(pytester: pytest.Pytester) -> None:
    write(pytester, "def test_it(): pass")

    ids = suite(pytester, "test_it.py", "--tflite=digits_cnn.tflite")

    assert ids[0] == "test_it.py::test_it"
    assert f"{OUTPUTS}[digits_cnn-{SIM}]" in ids


def test_a_test_needs_its_option_to_be_there(pytester: pytest.Pytester) -> None:
    given = ["--tflite=digits_cnn.tflite", "--autodeploy-power=off"]
    without = suite(pytester, *given)
    more = [*given, "--tflite-npu=ethos-u55-128", "--autodeploy-artifacts=library"]

    added = set(suite(pytester, *more)) - set(without)

    assert {test.partition("[")[2] for test in added} == {
        "digits_cnn-ethos-u55-128]",
        f"digits_cnn-{SIM}]",
    }
    assert not any("energy" in test for test in without)
    assert any("energy" in test for test in suite(pytester, given[0]))


def test_one_is_named_with_its_parameters(pytester: pytest.Pytester) -> None:
    boards = (f"--evb={SIM}", "--evb=sim:apollo510_evb")
    wanted = f"{OUTPUTS}[digits_cnn-{SIM}]"

    assert suite(pytester, wanted, "--tflite=digits_cnn.tflite", *boards) == [wanted]


def test_a_name_that_no_built_in_test_has_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("autodeploy::test_x", "--tflite=digits_cnn.tflite")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no built-in test autodeploy::test_x; is --tflite *"])


def test_a_built_in_test_that_is_left_out_says_by_what(pytester: pytest.Pytester) -> None:
    named = ("autodeploy::test_latency", "--tflite=digits_cnn.tflite", "--tflite-no-suite")
    result = pytester.runpytest_inprocess(*named)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: no built-in test autodeploy::test_latency; --tflite-no-suite leaves *: remove it*"]
    )
