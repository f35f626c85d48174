"""Reruns: they hide neither a broken board, nor outputs that cannot be trusted, nor a flake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.support import DIGITS

BUILT_IN = "autodeploy::"

FAILS_ONCE = """
import pytest

pytestmark = pytest.mark.tflite("digits_cnn.tflite")
tries = []

def test_it(model_session):
    model_session.latency()
    tries.append(1)
    assert len(tries) > 1, "the first try"
"""


def result_of(folder: Path) -> dict[str, Any]:
    """The JSON of the only result of a run."""
    (path,) = folder.glob("autodeploy-results/*/*/result.json")
    plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return plain


@pytest.mark.usefixtures("digits")
class TestFlaky:
    def test_it_is_told_with_the_earlier_attempt(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(test_it=FAILS_ONCE)
        summary = ("--autodeploy-summary=summary.md", "--junit-xml=junit.xml", "--html=report.html")
        result = pytester.runpytest("test_it.py", "--reruns=1", *summary)
        assert result.ret == 0
        result.stdout.fnmatch_lines(["FLAKY test_it.py*: passed in attempt 2; earlier: *first*"])
        (test,) = result_of(pytester.path)["tests"]
        assert "the first try" in test["attempts"][0]["message"]
        names = {item["name"] for item in test["attempts"][0]["measurements"]}
        assert "latency_median" in names
        assert "FLAKY" in Path("summary.md").read_text(encoding="utf-8")
        assert 'name="autodeploy.flaky" value="2"' in Path("junit.xml").read_text(encoding="utf-8")
        assert "attempt 1: " in Path("report.html").read_text(encoding="utf-8")

    def test_no_baseline_is_made_of_it(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(test_it=FAILS_ONCE)
        result = pytester.runpytest("test_it.py", "--reruns=1", "--autodeploy-update-baseline")
        result.stdout.fnmatch_lines(["*: not updated, test_it.py::test_it* needed a rerun"])
        assert not [*Path("autodeploy-baselines").rglob("*.json")]


def test_outputs_that_were_wrong_once_are_unstable(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makeconftest(
        """
import numpy as np, pytest
from pytest_autodeploy.session.model_session import ModelSession

run, tries = ModelSession.run, []

def flips_once(self, inputs=None):
    result = run(self, inputs)
    tries.append(1)
    if len(tries) == 1:
        result.outputs[0][...] = ~result.outputs[0]
    return result

ModelSession.run = flips_once
"""
    )
    arguments = (f"--tflite={digits.name}", "-k", "outputs_agree", "--reruns=2")
    result = pytester.runpytest(*arguments, "--autodeploy-explain=off")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["unstable: outputs were wrong in an earlier attempt and are*"])


@pytest.mark.parametrize("fault", ["die@invoke", "hang@invoke"])
def test_a_broken_board_is_not_hidden(pytester: pytest.Pytester, digits: Path, fault: str) -> None:
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': ['--fault', '{fault}']}}\n"
    )
    timeout = "--evb-timeout=2"
    result = pytester.runpytest(
        f"--tflite={digits.name}", "--reruns=1", timeout, "--autodeploy-summary=summary.md"
    )
    assert result.ret == 1
    outcomes = result.parseoutcomes()
    assert "skipped" not in outcomes
    assert outcomes["errors"] == 4
    assert outcomes["rerun"] == 1
    result.stdout.fnmatch_lines([f"board broke: *(see {BUILT_IN}test_model_fits*)"])
    assert "✅" not in Path("summary.md").read_text(encoding="utf-8")


def test_a_board_that_cannot_be_reached_is_not_hidden(
    pytester: pytest.Pytester, digits: Path
) -> None:
    attached = ("--evb=apollo4p_evb", "--evb-require-hardware", "--evb-port=/dev/ttyACM77")
    gate = ("--autodeploy-compare", "--reruns=1", "--autodeploy-summary=summary.md")
    result = pytester.runpytest(f"--tflite={digits.name}", *attached, *gate)
    assert result.ret == 1
    assert set(result.parseoutcomes()) <= {"errors", "rerun", "error"}
    assert "✅" not in Path("summary.md").read_text(encoding="utf-8")


def test_a_board_that_broke_with_two_models_is_given_up(
    pytester: pytest.Pytester, digits: Path
) -> None:
    models = Path("models")
    models.mkdir()
    for name in "abcd":
        (models / f"{name}.tflite").write_bytes(DIGITS.read_bytes())
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        "def evb_options(): return {'sim_arguments': ['--fault', 'die@invoke']}\n"
    )
    result = pytester.runpytest("--tflite=models", "-k", "outputs or latency")
    result.assert_outcomes(failed=4, errors=4, deselected=12)
