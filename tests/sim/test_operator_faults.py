"""Operators of a simulated board that compute something else: injected faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.sim.faults import parse_fault
from pytest_autodeploy.sim.operator_fault import ROUND_STRIDE, OperatorFault
from tests.helpers.simulated_board import Array, SimulatedBoard, simulated_board
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import running_sum

MODEL = load_model(DIGITS)
LAST = len(MODEL.operators) - 1
MIDDLE = LAST // 2
X = np.random.default_rng(3).integers(-128, 128, MODEL.inputs[0].shape).astype(np.int8)
INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def values_of(board: SimulatedBoard) -> dict[int, Array]:
    """Every tensor of the digits model after an inference on X."""
    client = board.client
    board.flash(MODEL.content)
    client.keep_tensors(True)
    client.configure()
    board.run(X)
    infos = {each.index: client.describe_tensor(each.index) for each in MODEL.tensors}
    return {
        index: np.frombuffer(client.read_tensor(index, info.size_bytes), info.dtype)
        for index, info in infos.items()
    }


def values_with(folder: Path, *faults: str) -> dict[int, Array]:
    arguments = [part for fault in faults for part in ("--fault", fault)]
    with simulated_board(folder, *arguments) as board:
        return values_of(board)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Array]:
    return values_with(tmp_path_factory.mktemp("healthy"))


def made_by(position: int) -> int:
    (output,) = MODEL.operators[position].outputs
    return output.index


def spoiled_operators(found: dict[int, Array], healthy: dict[int, Array]) -> list[int]:
    """The positions of the operators whose output differs."""
    return [
        position
        for position in range(LAST + 1)
        if (found[made_by(position)] != healthy[made_by(position)]).any()
    ]


@pytest.mark.parametrize("position", [0, MIDDLE, LAST])
@pytest.mark.parametrize("kind", ["corrupt-op", "round-op"])
def test_a_fault_begins_at_its_operator(
    tmp_path: Path, healthy: dict[int, Array], kind: str, position: int
) -> None:
    found = values_with(tmp_path, f"{kind}:{position}")

    fault = OperatorFault(kind, position)
    made = made_by(position)
    assert spoiled_operators(found, healthy)[0] == position
    np.testing.assert_array_equal(found[made], fault.spoil(healthy[made]))


def test_the_rest_of_the_model_works_on_what_the_operator_made(
    tmp_path: Path, healthy: dict[int, Array]
) -> None:
    from tflite_micro import runtime

    found = values_with(tmp_path, f"corrupt-op:{MIDDLE}")

    rest = cut_model(MODEL, MIDDLE + 1)
    interpreter = runtime.Interpreter.from_bytes(rest.content, arena_size=1 << 18)
    for at, each in enumerate(rest.inputs):
        interpreter.set_input(found[each.index].reshape(each.shape), at)
    interpreter.invoke()
    np.testing.assert_array_equal(found[made_by(LAST)], interpreter.get_output(0).ravel())
    assert (found[made_by(LAST)] != healthy[made_by(LAST)]).any()


def test_outputs_follow_the_fault_without_kept_tensors(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", f"corrupt-op:{MIDDLE}") as board:
        output = values_of(board)[made_by(LAST)]
        board.client.keep_tensors(False)
        board.client.configure()
        np.testing.assert_array_equal(board.run(X)[0].ravel(), output)


def test_two_operators_can_have_faults(tmp_path: Path, healthy: dict[int, Array]) -> None:
    found = values_with(tmp_path, f"corrupt-op:{LAST}", f"corrupt-op:{LAST}", "round-op:0")
    alone = values_with(tmp_path, "round-op:0")
    assert spoiled_operators(found, healthy)[0] == 0
    np.testing.assert_array_equal(found[made_by(LAST)], alone[made_by(LAST)])  # flipped twice


def test_arena_and_times_are_those_of_a_board_without_faults(tmp_path: Path) -> None:
    facts = []
    for arguments in ([], ["--fault", f"round-op:{MIDDLE}"]):
        with simulated_board(tmp_path, *arguments) as board:
            board.flash(MODEL.content)
            state = board.client.configure()
            timing, profiled = board.client.invoke(2), board.client.profile()
            facts.append((state, timing, profiled, board.client.read_layers()))
    assert facts[0] == facts[1]


def test_the_board_says_that_its_fault_is_on_purpose(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "round-op:0", "--fault", "hang@reboot") as board:
        board.flash(MODEL.content)
        board.client.configure()
        identity, log = board.client.identify(), board.client.read_log()
    assert identity.build_id.endswith(", injected faults: round-op:0, hang@reboot")
    assert log == "injected fault: round-op:0\n"


def refusal(folder: Path, fault: str, content: bytes) -> tuple[str, str]:
    with simulated_board(folder, "--fault", fault) as board:
        board.flash(content)
        with pytest.raises(BoardRefused) as caught:
            board.client.configure()
    return caught.value.status, caught.value.text.splitlines()[-1]


def test_an_operator_that_does_not_exist_has_no_fault(
    tmp_path: Path, healthy: dict[int, Array]
) -> None:
    """As on a board with one wrong kernel: the operators before it are right without it."""
    with simulated_board(tmp_path, "--fault", f"corrupt-op:{LAST + 1}") as board:
        assert spoiled_operators(values_of(board), healthy) == []
        log = board.client.read_log()
    note = f"without effect: there are {LAST + 1} operators"
    assert log == f"injected fault: corrupt-op:{LAST + 1}, {note}\n"


def test_an_operator_without_values_is_refused(tmp_path: Path) -> None:
    words = "configure: fault corrupt-op:1: VAR_HANDLE makes nothing that can be changed so"
    assert refusal(tmp_path, "corrupt-op:1", running_sum()) == ("UNSUPPORTED", words)


def test_a_fault_in_the_midst_of_a_state_is_refused(tmp_path: Path) -> None:
    status, words = refusal(tmp_path, "corrupt-op:2", running_sum())
    assert status == "UNSUPPORTED"
    assert "the cut parts users of resource variables" in words


@pytest.mark.parametrize("text", ["corrupt-op", "corrupt-op:", "round-op:-1", "round-op:two"])
def test_a_fault_without_a_position_is_no_fault(text: str) -> None:
    with pytest.raises(ValueError, match="no fault"):
        parse_fault(text)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_every_element_of_a_corrupted_tensor_is_another(dtype: str) -> None:
    values = extremes(dtype)
    before = values.copy()
    spoiled = OperatorFault("corrupt-op", 0).spoil(values)
    assert spoiled.dtype == values.dtype
    assert (spoiled != values).all()
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_some_elements_of_a_rounded_tensor_are_one_step_off(dtype: str) -> None:
    values = extremes(dtype)
    off = OperatorFault("round-op", 0).spoil(values).astype(object) - values.astype(object)
    assert {abs(each) for each in off.ravel()[::ROUND_STRIDE]} == {1}
    assert np.count_nonzero(off) == len(off.ravel()[::ROUND_STRIDE])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_rounded_by_an_epsilon_of_the_largest(dtype: str) -> None:
    values = np.array([[0, -3, 1e-3, 2, 0.5, 1]], dtype)
    off = np.abs(OperatorFault("round-op", 0).spoil(values) - values).ravel()
    assert (off[[0, 5]] > 0).all()
    assert off[1:5].tolist() == [0] * 4
    assert off.max() <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize("kind", ["corrupt-op", "round-op"])
def test_a_tensor_of_zeros_is_changed_too(kind: str) -> None:
    spoiled = OperatorFault(kind, 0).spoil(np.zeros((1, 3), np.float32))
    assert spoiled[0, 0] > 0


def test_booleans_have_no_step_to_be_off_by() -> None:
    values = np.array([True, False])
    np.testing.assert_array_equal(OperatorFault("round-op", 0).spoil(values), values)
    assert not OperatorFault("round-op", 0).can_change("bool")


def extremes(dtype: str) -> Any:
    """Both ends of a type's range, zero and others, the ends among those that are rounded."""
    if dtype == "bool":
        return np.array([[True, False, True]])
    if dtype in FLOATS:
        return np.array([[0, -0.5, 0.5, -1, 1e4, -1e4, 1e-4]], dtype)
    ends = np.iinfo(dtype)
    values = np.zeros((3, ROUND_STRIDE), dtype)
    values[:, 0] = ends.max, ends.min, 7
    return values
