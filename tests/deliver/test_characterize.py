"""Characterising real sessions: what is measured, and which outputs an example gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver.characterize import characterize
from pytest_autodeploy.deliver.errors import OutputsDiffer
from pytest_autodeploy.deliver.example_inference import example_of, most_telling
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import Inputs, random_inputs
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.session.measured import RunResult
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.deliver_examples import load, lstm, two_outputs
from tests.helpers.emulation import machine, needs_qemu, needs_tflm
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import add_two_inputs, running_sum


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(DIGITS)


@contextmanager
def session_of(model: Model, *arguments: str, runs: int = 2) -> Iterator[ModelSession]:
    """The session of a model on a simulated board."""
    board = SimulatedBoard(
        "sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60, arguments=arguments
    )
    try:
        yield ModelSession(model, board, inputs=random_inputs(model, runs, 1))
    finally:
        board.close()


def test_a_session_is_characterised(digits: Model) -> None:
    with session_of(digits) as session, Reference(digits) as reference:
        found = characterize(session, reference, Tolerance())
        by_path = reference.run(session.inputs)
        tuned = session.measured.arena

    assert tuned is not None
    assert found.arena_bytes == tuned.arena_bytes
    assert found.arena_used_bytes <= found.arena_bytes
    assert (found.place.board, found.place.source) == ("sim:apollo4p_evb", "modelled")
    assert (found.place.model_memory, found.place.arena_memory) == ("mram", "dtcm")
    assert found.resolver_methods == digits.resolver_methods
    at = [each.tobytes() for each in session.inputs.arrays[0]].index(found.example.inputs[0].data)
    assert found.example.outputs[0].data == by_path[found.example.path][0][at].tobytes()
    assert found.example.seed == 1
    assert found.agreement.endswith("inferences: 2")


@pytest.mark.parametrize(
    ("samples", "at"),
    [
        ([[-128, 127, -128], [-128, 120, -121]], 1),
        ([[-128, 127, -128], [-127, 126, -128], [-127, -127, -128]], 1),
        ([[1, 2, 3], [4, 5, 6]], 0),
        ([[-128], [127], [-5]], 2),
    ],
    ids=["saturated", "of-equals-more-values", "then-the-first", "one-element"],
)
def test_the_example_is_the_inference_that_tells_most(samples: list[list[int]], at: int) -> None:
    assert most_telling([np.array(samples, np.int8)]) == at


@pytest.mark.parametrize(
    ("dtype", "samples", "at"),
    [("float32", [[0.0, 1.0, 0.0], [0.2, 0.5, 0.3]], 1), ("bool", [[True] * 2, [False, True]], 1)],
)
def test_other_types_are_told_by_their_values(dtype: str, samples: list[Any], at: int) -> None:
    assert most_telling([np.array(samples, dtype)]) == at


def test_what_an_inference_notices_counts_before_all_else() -> None:
    outputs = [np.array([[-128, 127, -128], [-128, 120, -121], [-128, 120, -121]], np.int8)]
    assert most_telling(outputs, [5, 3, 4]) == 0
    assert most_telling(outputs, [5, 5, 5]) == 1


def test_on_request_the_example_is_the_inference_that_notices_most(digits: Model) -> None:
    """An input of zero points alone notices less than random ones."""
    with session_of(digits) as session, Reference(digits) as reference:
        usual = session.inputs.arrays[0]
        dull = np.full_like(usual[:1], digits.inputs[0].zero_point)
        session.inputs = Inputs((np.concatenate([dull, usual[:1]]),), "given", None)
        example = characterize(session, reference, Tolerance(), probe=True).example
    assert example.origin == "given, inference 1"


def test_all_outputs_count() -> None:
    assert most_telling([np.array([[5], [5]], np.int8), np.array([[255], [7]], np.uint8)]) == 1


@pytest.mark.parametrize(("reset_each", "at"), [(False, 0), (True, 1)])
def test_with_a_state_only_the_first_inference_can_be_repeated(
    tmp_path: Path, reset_each: bool, at: int
) -> None:
    model = load(running_sum(), tmp_path)
    shape = (2, *model.inputs[0].shape)
    inputs = Inputs((np.arange(np.prod(shape), dtype="float32").reshape(shape) % 3,), "given", None)
    outputs = np.zeros((2, *model.outputs[0].shape), model.outputs[0].dtype)
    outputs[1] = np.arange(outputs[1].size).reshape(outputs[1].shape) + 1
    run = RunResult(inputs, (outputs,), reset_each)

    example = example_of(model, run, {"ref": [outputs]}, Tolerance())

    assert example.origin == f"given, inference {at}"
    assert example.outputs[0].data == outputs[at].tobytes()
    assert example.inputs[0].data == inputs.arrays[0][at].tobytes()


def test_what_the_test_has_measured_is_not_measured_again(
    digits: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session_of(digits) as session, Reference(digits) as reference:
        session.run()
        arena = session.tune_arena()
        monkeypatch.setattr(session, "_infer_all", None)
        monkeypatch.setattr(session, "_runs_in", None)

        assert characterize(session, reference, Tolerance()).arena_bytes == arena.arena_bytes


def test_outputs_that_differ_are_not_characterised(digits: Model) -> None:
    with (
        session_of(digits, "--fault", "corrupt-op:0") as session,
        Reference(digits) as reference,
        pytest.raises(OutputsDiffer, match=r"digits_cnn on sim:apollo4p_evb: outputs differ"),
    ):
        characterize(session, reference, Tolerance())


@pytest.mark.parametrize(
    ("tolerance", "unit", "atol", "rtol"),
    [
        (Tolerance(), "steps", 1.0, 0.0),
        (Tolerance(lsb=3), "steps", 3.0, 0.0),
        (Tolerance(atol=0.5, rtol=0.25), "real", 0.5 * (1 + 1e-6), 0.25 * (1 + 1e-6)),
    ],
)
def test_the_tolerance_that_was_used_is_kept(
    tmp_path: Path, tolerance: Tolerance, unit: str, atol: float, rtol: float
) -> None:
    model = load(add_two_inputs("int8"), tmp_path)
    with session_of(model) as session, Reference(model) as reference:
        found = characterize(session, reference, tolerance).example.outputs[0]

    assert (found.unit, found.atol, found.rtol) == (unit, atol, rtol)
    assert found.tolerance == tolerance.text("int8")


def test_a_share_of_the_peak_becomes_a_plain_limit(tmp_path: Path) -> None:
    model = load(add_two_inputs("float32"), tmp_path)
    with session_of(model) as session, Reference(model) as reference:
        found = characterize(session, reference, Tolerance())
        pc = reference.run(session.inputs)[found.example.path][0]

    assert found.example.outputs[0].unit == "real"
    assert found.example.outputs[0].atol == pytest.approx(1e-4 * np.abs(pc).max())


@pytest.mark.parametrize("content", [running_sum(), lstm()], ids=["variable", "lstm"])
def test_an_arena_in_which_tflm_crashes_is_only_too_small(content: bytes, tmp_path: Path) -> None:
    model = load(content, tmp_path)
    with session_of(model) as session:
        arena = session.tune_arena()

        assert arena.tries > 1
        assert session.run().outputs[0].shape[0] == 2


def test_bools_have_to_be_equal(tmp_path: Path) -> None:
    model = load(two_outputs(), tmp_path)
    with session_of(model) as session, Reference(model) as reference:
        found = characterize(session, reference, Tolerance())

    limits = [(each.dtype, each.atol, each.tolerance) for each in found.example.outputs]
    assert limits == [("int32", 1.0, "1 step"), ("bool", 0.0, "equal")]


@needs_qemu
@needs_tflm
@pytest.mark.parametrize(
    "content", [running_sum(), lstm(), two_outputs()], ids=["variable", "lstm", "outputs"]
)
def test_what_the_pc_has_found_out_is_enough_for_a_cortex_m(content: bytes, tmp_path: Path) -> None:
    model = load(content, tmp_path, "8 größe.v2")
    with session_of(model) as session, Reference(model) as reference:
        found = characterize(session, reference, Tolerance())
    options = BuildOptions(cache=tmp_path / "cache")

    made = generate(model, machine("mps3-an547"), tmp_path / "out", ["library"], found, options)

    assert made.left_out == ()
    assert made.example is not None
    assert made.example.output == "m_8_gro_e_v2: all outputs match\n"
