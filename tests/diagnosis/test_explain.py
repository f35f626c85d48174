"""Why the outputs of a board differ: each cause on a simulated board, and the operator's name."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.diagnosis import by_tensors
from pytest_autodeploy.diagnosis.board import Kept, kept_tensors
from pytest_autodeploy.diagnosis.explanation import layer_table, text
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.metrics.records.diagnosis import explanation_record
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers import tflite_builder as tflite
from tests.helpers.diverging_board import WithoutTensors, explained, session_on
from tests.helpers.support import DIGITS, KWS

MODEL = load_model(DIGITS)
OPERATORS = len(MODEL.operators)


def load(folder: Path, content: bytes) -> Model:
    path = folder / "model.tflite"
    path.write_bytes(content)
    return load_model(path)


def dense_then_leaky(folder: Path) -> Model:
    """With these scales LEAKY_RELU rounds in TFLM otherwise than on each path of LiteRT."""
    random = np.random.default_rng(0)
    weights = tflite.constant(random.integers(-127, 128, (32, 64)), "int8", scale=0.01)
    bias = tflite.constant(random.integers(-999, 1000, 32), scale=0.0005)
    x = tflite.tensor((1, 64), "int8", scale=0.05, zero_point=-5, name="x")
    dense = tflite.tensor((1, 32), "int8", scale=0.5, zero_point=7, name="dense")
    leaky = tflite.tensor((1, 32), "int8", scale=0.1, zero_point=7, name="leaky")
    operators = [
        tflite.operator("FULLY_CONNECTED", [x, weights, bias], [dense]),
        tflite.operator("LEAKY_RELU", [dense], [leaky], options={"alpha": 0.3}),
    ]
    return load(folder, tflite.build_model(operators=operators, inputs=[x], outputs=[leaky]))


def test_a_board_like_tflm_on_the_pc_shows_that_the_runtimes_differ(tmp_path: Path) -> None:
    with session_on(dense_then_leaky(tmp_path), inputs=10) as session:
        found = explained(session)
    assert found.cause == "runtime"
    assert found.lines[0] == "the board is bit-exact with TFLM on the PC"
    assert found.found.operator is not None
    assert found.found.operator.label == "1 LEAKY_RELU"
    assert found.found.where.startswith("TFLM and ")
    assert found.advice == (
        "declare output_tolerance(lsb=1), if that is near enough for this model",
    )


@pytest.mark.parametrize("operator", [0, OPERATORS // 2, OPERATORS - 1])
def test_a_wrong_kernel_is_named(operator: int) -> None:
    with session_on(MODEL, f"corrupt-op:{operator}") as session:
        found = explained(session)
    assert found.cause == "board"
    assert found.found.operator is not None
    assert found.found.operator.position == operator
    assert found.found.method == "kept tensors"
    assert [layer.position for layer in found.found.layers if layer.wrong] == [operator]
    assert MODEL.operators[operator].name in found.advice[0]


def test_a_kernel_that_rounds_otherwise_is_named() -> None:
    with session_on(MODEL, "round-op:2") as session:
        found = explained(session)
    assert found.cause == "board"
    assert found.found.operator is not None
    assert (found.found.operator.position, found.found.operator.adds) == (2, 1)


@pytest.mark.parametrize("model", [MODEL, load_model(KWS)], ids=["digits", "kws"])
@pytest.mark.parametrize("operator", [1, 4])
def test_bisection_names_the_same_operator_in_few_runs(model: Model, operator: int) -> None:
    with session_on(model, f"corrupt-op:{operator}", kind=WithoutTensors) as session:
        found = explained(session)
    assert (found.cause, found.found.method) == ("board", "cut models")
    assert found.found.operator is not None
    assert found.found.operator.position == operator
    assert found.found.operator.adds == 64
    assert found.found.board_runs <= math.ceil(math.log2(len(model.operators))) + 2
    assert found.problems == ("comparing every tensor: the board cannot keep its tensors",)


def test_a_board_that_disagrees_with_itself_is_told_from_a_wrong_one() -> None:
    with session_on(MODEL, "flaky-output") as session:
        found = explained(session)
    assert found.cause == "unstable"
    assert "changed in 2 repeats with the same inputs" in found.lines[0]
    assert found.found.where.startswith("after the last operator: every operator gave the same")
    assert "--evb-arena-memory" in found.advice[0]


def test_outputs_that_are_read_as_others_are_not_blamed_on_an_operator() -> None:
    with session_on(MODEL, "corrupt-output") as session:
        found = explained(session)
    assert found.cause == "board"
    assert found.found.operator is None
    assert found.found.where.startswith("after the last operator: the output ")
    assert "output tensor" in found.advice[0]


def test_a_difference_that_is_gone_with_kept_tensors_is_one_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With kept tensors another board answers, a right one."""
    with session_on(MODEL, "corrupt-op:1") as session, session_on(MODEL) as right:
        monkeypatch.setattr(
            by_tensors, "kept_tensors", lambda _session, *arguments: kept_tensors(right, *arguments)
        )
        found = explained(session)
    assert (found.cause, found.found.operator) == ("board", None)
    assert found.found.where.startswith("in no operator: with each tensor in memory of its own")
    assert "--evb-arena-memory" in found.advice[0]


def test_an_input_that_is_another_on_the_board_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*arguments: Any) -> Kept:
        whole = kept_tensors(*arguments)
        index = MODEL.inputs[0].index
        return replace(whole, values=whole.values | {index: whole.values[index] ^ 1})

    monkeypatch.setattr(by_tensors, "kept_tensors", damaged)
    with session_on(MODEL, "corrupt-op:1") as session:
        found = explained(session)
    assert found.cause == "board"
    assert found.found.where.startswith("before the first operator: the input ")


def test_tensors_are_kept_in_the_largest_arena_when_the_sessions_own_is_too_small() -> None:
    with session_on(MODEL, "corrupt-op:3") as session:
        session.prepare(session.inputs, arena_bytes=session.state.arena_used_bytes)
        arena_bytes = session.state.arena_bytes
        found = explained(session)
        assert session.run().outputs
        assert session.state.arena_bytes == arena_bytes
    assert found.found.operator is not None
    assert (found.found.operator.position, found.found.method) == (3, "kept tensors")


def test_a_pinned_path_that_fails_alone_is_the_pcs_fault(tmp_path: Path) -> None:
    path = load(tmp_path, tflite.add_two_inputs(shape=(1, 64)))
    with session_on(path, inputs=10) as session:
        found = explained(session, Tolerance(lsb=0, reference="xnnpack"))
    assert found.cause == "pc"
    assert found.found.where.startswith("ref and xnnpack part in operator 0 ADD, which adds 1 step")
    assert 'instead of reference="xnnpack"' in found.advice[0]


def test_without_tflm_on_the_pc_the_operators_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the board's operators are held against LiteRT's kernels."""
    with session_on(MODEL, "corrupt-op:3") as session:
        session.ensure()
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "tflite_micro" else find(name)
        )
        found = explained(session)
    assert found.cause == "board"
    assert found.found.operator is not None
    assert found.found.operator.position == 3
    assert any("TFLM on the PC was not asked: it needs pip" in line for line in found.lines)


def test_inferences_that_carry_a_state_are_repeated_from_the_first_on(tmp_path: Path) -> None:
    """The sum of all inputs so far, read wrongly: the repeat comes out alike nevertheless."""
    model = load(tmp_path, tflite.running_sum())
    with session_on(model, "corrupt-output", inputs=3) as session:
        found = explained(session, Tolerance(atol=0.001))
    assert found.inference == 0
    assert (found.cause, found.found.elsewhere) == ("board", "output")


def test_the_session_goes_on_as_before() -> None:
    with session_on(MODEL, "corrupt-op:1", kind=WithoutTensors) as session:
        before = session.run()
        state = session.state
        explained(session)
        again = session.run()
        assert session.state == state
    np.testing.assert_array_equal(again.outputs[0], before.outputs[0])


def test_a_board_that_breaks_leaves_what_was_found_before() -> None:
    """It dies when it is asked to keep its tensors for the first time."""
    with session_on(MODEL, "corrupt-op:1", "die@read_tensor") as session:
        found = explained(session)
        assert session.run().outputs
    assert found.cause == "board"
    assert found.found.operator is None
    assert any("comparing operator by operator: " in line for line in found.problems)
    assert any("SIGSEGV" in line for line in found.problems)


def test_the_time_is_limited() -> None:
    with session_on(MODEL, "corrupt-op:1") as session:
        found = explained(session, limit_s=0)
    assert found.cause == "board"
    assert found.problems == ("reading the last operators' outputs: no time was left",)


def test_a_bisection_that_ran_out_of_time_tells_how_far_it_came() -> None:
    with session_on(MODEL, "corrupt-op:1", kind=WithoutTensors) as session:
        found = explained(session, limit_s=0)
    assert found.cause == "board"
    assert found.found.where == f"it starts in one of the operators 0 to {OPERATORS - 1}"
    assert found.problems[-1] == "bisection: the time was over after 0 runs"


def test_operators_are_compared_on_request_when_outputs_agree() -> None:
    with session_on(MODEL) as session:
        found = explained(session, Tolerance(lsb=9))
    assert found.cause == "agree"
    assert [layer.position for layer in found.found.layers] == list(range(OPERATORS))
    assert all(layer.adds == 0 for layer in found.found.layers)


def test_the_words_name_cause_operator_tensor_and_what_to_do() -> None:
    with session_on(MODEL, "corrupt-op:1") as session:
        found = explained(session)
    lines = text(found).splitlines()
    assert lines[0] == "why: the board, its firmware or its kernel library"
    (where,) = [line for line in lines if line.startswith("where: ")]
    name = MODEL.operators[1].name
    assert where.startswith(f"where: it starts in operator 1 {name}, which adds 64 steps in ")
    assert any(line.startswith("to do: check the kernel of ") for line in lines)
    assert len(layer_table(found.found.layers).splitlines()) == OPERATORS + 1
    made = explanation_record(found)
    assert made.operator
    assert made.operator.position == 1
    assert made.operator == made.layers[1]
