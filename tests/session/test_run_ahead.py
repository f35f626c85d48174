"""Many samples: the next inputs are sent while the board computes, also of samples with labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base import trace
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import as_inputs
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.support import MODELS

COUNT = 12


@pytest.fixture
def session() -> Iterator[ModelSession]:
    """A small model on a simulated board."""
    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    model = load_model(MODELS / "digits_cnn.tflite")
    values = np.load(MODELS / "digits_test.npz")
    samples = values[values.files[0]][:COUNT]
    session = ModelSession(model, board, inputs=as_inputs(samples, model))
    session.begin()
    yield session
    board.close()


def infers(folder: Path) -> list[dict[str, Any]]:
    """The calls of the host, in the order of their starts."""
    events = trace.collect(folder)["traceEvents"]
    found = [each for each in events if each["name"] == "infer" and "board" in each.get("args", {})]
    return sorted(found, key=lambda each: float(each["ts"]))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda session: session.run(), id="run"),
        pytest.param(lambda session: session.accuracy(np.zeros(COUNT, int)), id="accuracy"),
    ],
)
def test_requests_are_sent_before_the_answer_to_the_one_before(
    session: ModelSession, run: Callable[[ModelSession], object], tmp_path: Path
) -> None:
    session.ensure()
    trace.begin(tmp_path, "the host")
    try:
        run(session)
    finally:
        trace.end()

    calls = infers(tmp_path)
    ahead = [later["ts"] < earlier["ts"] + earlier["dur"] for earlier, later in pairwise(calls)]
    assert len(calls) == COUNT
    assert any(ahead)


def test_samples_with_labels_give_the_outputs_of_a_run(session: ModelSession) -> None:
    labelled = session.accuracy(np.zeros(COUNT, int))

    np.testing.assert_array_equal(labelled.run.outputs[0], session.run().outputs[0])
