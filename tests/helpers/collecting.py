"""Inner runs of pytest that only collect: the ids of the tests, or the usage errors."""

from __future__ import annotations

from pathlib import Path

import pytest

SIM = "sim:apollo4p_evb"
TEST_IT = "test_it.py::test_it"


def write(pytester: pytest.Pytester, test: str) -> None:
    """The test file ``test_it.py``."""
    pytester.makepyfile(test_it=f"import pytest\n{test}")


def collected(pytester: pytest.Pytester, test: str, *arguments: str | Path) -> list[str]:
    """The tests of a test file, with what they are parametrised with."""
    write(pytester, test)
    result = pytester.runpytest_inprocess("--collect-only", "-q", "test_it.py", *arguments)
    assert result.ret == pytest.ExitCode.OK, result.stderr.str()
    ids = [line.partition("::")[2] for line in result.outlines if line.startswith("test_it.py::")]
    assert ids
    return ids


def refused(pytester: pytest.Pytester, test: str, *arguments: str) -> list[str]:
    """The usage errors of a test file, a line each."""
    write(pytester, test)
    result = pytester.runpytest_inprocess("--collect-only", "-q", "test_it.py", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return [line.removeprefix("ERROR: ") for line in result.errlines if line]


def options(*boards: str, models: tuple[str, ...] = ("digits_cnn.tflite",)) -> list[str]:
    """The command line that names models and boards, without the built-in tests."""
    named = [f"--evb={board}" for board in boards]
    return ["--tflite-no-suite", *named, *(f"--tflite={model}" for model in models)]
