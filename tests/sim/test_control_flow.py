"""Loops and branches take the time of what they really ran."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.catalog.boards import Core
from pytest_autodeploy.model.counters import executions, has_control_flow, with_counters
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference.inputs import as_inputs
from pytest_autodeploy.sim.tflm import Tflm
from pytest_autodeploy.sim.timing import layer_cycles, main_cycles, unmodelled
from tests.helpers import tflite_builder as build
from tests.helpers.diverging_board import session_on

LOOP = parse(Path("loop.tflite"), build.counting_loop())
BRANCH = parse(Path("branch.tflite"), build.branch())
CORE: Core = "cortex-m4f"


def cycles(
    model: Model, inputs: np.ndarray, *faults: str
) -> tuple[int, list[int | None], np.ndarray]:
    """Cycles of an inference on a simulated board, those of its layers, and the output."""
    with session_on(model, *faults) as session:
        session.prepare(as_inputs([inputs], model))
        run, latency, profile = session.run(), session.time_runs(2), session.profile()
        assert latency.first_us == latency.samples_us[0]
        total = round(latency.first_us * session.identity.tick_hz / 1e6)
        return total, [layer.cycles for layer in profile.layers], run.outputs[0]


@pytest.mark.parametrize(("start", "times"), [(0, 5), (3, 2), (7, 0)])
def test_a_loop_is_counted_as_often_as_it_ran(start: float, times: int) -> None:
    while_, less, add = (layer_cycles(operator, CORE) for operator in LOOP.operators)
    copies = 4  # one float is copied each time
    total, layers, output = cycles(LOOP, np.full((1, 1), start, np.float32))
    assert output[0, 0] == max(start, 5)
    assert total == layers[0] == while_ + (times + 1) * less + times * (add + copies)


def test_a_branch_takes_the_time_of_the_side_that_ran() -> None:
    dense, relu = (cycles(BRANCH, np.full((1, 1, 64), sign, np.float32)) for sign in (-1, 1))
    by_name = {operator.name: layer_cycles(operator, CORE) for operator in BRANCH.operators}
    assert dense[0] - relu[0] == by_name["FULLY_CONNECTED"] - by_name["RELU"]
    assert dense[1][:2] == relu[1][:2]


def test_a_faulty_board_counts_its_loops_too() -> None:
    inputs = np.full((1, 1), 3, np.float32)
    assert cycles(LOOP, inputs, "corrupt-op:0")[0] == cycles(LOOP, inputs)[0]


def test_what_counts_computes_the_same() -> None:
    counted = Tflm(with_counters(LOOP), 1 << 16, keep=False)
    counted.run([np.array([2], np.float32)])
    assert counted.output(0) == [5]
    assert executions(LOOP.operators, counted.output(1).tolist()) == {0: 1, 1: 4, 2: 3}


def test_a_model_without_loops_is_as_it_was() -> None:
    model = parse(Path("m.tflite"), build.fully_connected())
    assert not has_control_flow(model)
    assert main_cycles(model, CORE, {}) == [layer_cycles(model.operators[0], CORE)]


def test_operators_of_unknown_work_are_named() -> None:
    assert unmodelled(parse(Path("m"), build.custom_operator("SignalRfft")).operators) == (
        "SignalRfft",
    )
    assert unmodelled((*LOOP.operators, *BRANCH.operators)) == ()


def test_a_condition_that_loops_itself_has_no_time() -> None:
    x, y, value, flag = (build.tensor((1,), name=name) for name in "xyvf")
    options = {"cond_subgraph_index": 1, "body_subgraph_index": 1}
    loop = build.operator("WHILE", [x], [y], options=options)
    both = build.Subgraph([build.operator("ABS", [value], [flag])], [value], [flag])
    content = build.build_model(operators=[loop], inputs=[x], outputs=[y], more_subgraphs=[both])
    with pytest.raises(ModelError, match="its loops cannot be counted"):
        with_counters(parse(Path("m"), content))
