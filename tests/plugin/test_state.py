"""Models with state: carried through a run or reset before each inference, alike on both sides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.model.load import load_model
from tests.helpers.emulation import needs_qemu, needs_tflm
from tests.helpers.result_files import result_file
from tests.helpers.tflite_builder import relu, running_sum, svdf

BUILDERS = pytest.mark.parametrize("build", [running_sum, svdf])
TESTS = """
import numpy as np
import pytest
pytestmark = pytest.mark.tflite("model.tflite")

@pytest.mark.output_tolerance(atol=1e-6)
def test_it(model_session):
    (x,) = model_session.model.inputs
    outputs = model_session.run(np.ones((5, *x.shape), np.float32)).outputs[0]
    repeated = model_session.run(np.ones((5, *x.shape), np.float32)).outputs[0]
    assert (outputs == repeated).all()  # each run starts fresh
    assert (outputs == outputs[0]).all() == EQUAL
"""


def run(pytester: pytest.Pytester, content: bytes, *arguments: str, equal: bool) -> dict[str, Any]:
    """The record of a test whose five equal inferences give equal outputs, or do not."""
    Path("model.tflite").write_bytes(content)
    pytester.makepyfile(test_it=TESTS.replace("EQUAL", str(equal)))
    pytester.runpytest("test_it.py", *arguments).assert_outcomes(passed=1)
    (path,) = Path("autodeploy-results").glob("model/*/result.json")
    return result_file(path)


@BUILDERS
def test_state_is_carried_by_default(pytester: pytest.Pytester, build: Callable[[], bytes]) -> None:
    result = run(pytester, build(), equal=False)
    assert result["state"] == "carry"
    assert result["agreement"]["passed"]


@BUILDERS
def test_state_is_reset_on_both_sides_by_option(
    pytester: pytest.Pytester, build: Callable[[], bytes]
) -> None:
    result = run(pytester, build(), "--tflite-state", "reset", equal=True)
    assert result["state"] == "reset"
    assert result["agreement"]["passed"]


def test_a_project_and_a_file_can_reset_it_too(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nautodeploy_state = reset\n")
    assert run(pytester, running_sum(), equal=True)["state"] == "reset"
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        "def model_session_options(): return {'state': 'carry'}\n"
    )
    assert run(pytester, running_sum(), equal=False)["state"] == "carry"


def test_the_report_says_how_state_was_kept(pytester: pytest.Pytester) -> None:
    Path("model.tflite").write_bytes(running_sum())
    suite = ("autodeploy::test_outputs_agree", "--tflite", "model.tflite", "--junitxml", "j.xml")
    result = pytester.runpytest(*suite, "--tflite-state", "reset", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["State of the model*reset before each inference"])
    assert 'name="autodeploy.state" value="reset"' in Path("j.xml").read_text(encoding="utf-8")


def test_a_model_without_state_has_none(pytester: pytest.Pytester) -> None:
    assert run(pytester, relu(), "--tflite-state", "reset", equal=True)["state"] is None


@BUILDERS
def test_models_know_that_they_have_state(tmp_path: Path, build: Callable[[], bytes]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(build())
    assert load_model(path).stateful
    path.write_bytes(relu())
    assert not load_model(path).stateful


@pytest.mark.parametrize("state", ["carry", "reset"])
def test_a_board_that_breaks_in_the_middle_leaves_the_outputs_as_they_are(
    pytester: pytest.Pytester, state: str
) -> None:
    """With carried state the samples are run from the first one again."""
    Path("model.tflite").write_bytes(running_sum())
    pytester.makepyfile(
        test_it="""
import os, signal
import numpy as np
import pytest
pytestmark = pytest.mark.tflite("model.tflite")

@pytest.fixture(scope="session")
def model_inputs(): return np.random.default_rng(0).normal(size=(8, 1, 4)).astype(np.float32)

def test_it(model_session, evb, monkeypatch):
    infer, infer_from, ran = model_session.infer, model_session.infer_from, []

    def breaking(inputs, first, outputs):
        for number in infer_from(inputs, first, outputs):
            ran.append(number)
            if number == 3 and ran.count(3) == 1:
                os.kill(evb.pid, signal.SIGKILL)
            yield number

    def alone(inputs, number, outputs):
        infer(inputs, number, outputs)
        ran.append(number)

    monkeypatch.setattr(model_session, "infer_from", breaking)
    monkeypatch.setattr(model_session, "infer", alone)
    measured = model_session.accuracy(np.arange(8) % 4)
    assert ran == [0, 1, 2, 3, *range(START, 8)]
    assert [words[:9] for words in measured.restarts] == ["sample 4:"]
    assert (measured.run.outputs[0] == model_session.run().outputs[0]).all()
""".replace("START", "0" if state == "carry" else "4")
    )
    pytester.runpytest("test_it.py", "--tflite-state", state).assert_outcomes(passed=1)


@needs_qemu
@needs_tflm
@BUILDERS
def test_an_emulated_board_keeps_state_as_the_pc_does(
    pytester: pytest.Pytester, build: Callable[[], bytes]
) -> None:
    for state in ("carry", "reset"):
        board = ("--evb", "qemu:mps2-an386", "--tflite-state", state)
        result = run(pytester, build(), *board, equal=state == "reset")
        assert result["state"] == state
        assert result["agreement"]["passed"]
