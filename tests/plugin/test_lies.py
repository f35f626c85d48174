"""Boards that answer wrongly, each in its own way: no lie passes, and an honest board does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.liar import HONEST, LIES

FOUND = {
    "other-model": "*it runs a model of*, not digits_cnn*",
    "other-layers": "*its profile has 6 layers, the model 7 operators",
}
"""What is said of a lie that is not about outputs."""

WRONG_OUTPUT = "wrong output: digits_cnn on sim:apollo4p_evb: outputs differ from the PC's"


@contextmanager
def liar(lie: str, model: Path) -> Iterator[str]:
    """A board that lies; gives its port."""
    command = [sys.executable, "-m", "tests.helpers.liar", lie, "--board", "apollo4p_evb"]
    with subprocess.Popen(
        [*command, "--model", str(model)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["port"])
        process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(pytester: pytest.Pytester, digits: Path, lie: str) -> None:
    with liar(lie, digits.resolve()) as port:
        result = pytester.runpytest("autodeploy", "--tflite", digits.name, "--evb-port", port)
    if lie == HONEST:
        result.assert_outcomes(passed=4)
    else:
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([FOUND.get(lie, WRONG_OUTPUT)])
