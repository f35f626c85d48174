"""What results look like in pytest's failures: a line, not their arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.live import PowerOptions
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.power.simulated import SimulatedMeter
from pytest_autodeploy.reference.inputs import as_inputs
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.support import DIGITS

LONGEST = 400


@pytest.fixture(scope="module")
def board() -> Iterator[SimulatedBoard]:
    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    yield board
    board.close()


def test_results_fit_a_line_and_say_what_they_are(board: SimulatedBoard) -> None:
    model = load_model(DIGITS)
    samples = np.zeros((50, *model.inputs[0].shape), model.inputs[0].dtype)
    session = ModelSession(model, board, inputs=as_inputs(samples, model))
    meter = PowerMeter(PowerOptions(0.1, 2), lambda _board: SimulatedMeter(board))
    energy = meter.measure(session)
    shown = {
        "Energy(mode='HP', uj=": energy,
        "Window(": energy.windows[0],
        "RunResult(inferences=50, outputs='int8 (50, ": session.run(),
        "Latency(first_us=": session.latency(500),
        "LayerProfile(layers=7, total_us=": session.profile(),
        "Inputs(arrays='int8 (50, ": session.inputs,
        "LabelledRun(run=RunResult(": session.accuracy(np.zeros(50, int)),
        "ModelSession(digits_cnn on sim:apollo4p_evb)": session,
        "MemoryUse(": session.memory(),
        "TunedArena(": session.tune_arena(),
    }
    for beginning, result in shown.items():
        assert repr(result).startswith(beginning)
        assert len(repr(result)) < LONGEST, repr(result)
