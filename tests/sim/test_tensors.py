"""The simulated board keeps every tensor and gives it out, as TFLM has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.messages import Capability
from tests.helpers.simulated_board import Array, SimulatedBoard, simulated_board
from tests.helpers.support import KWS
from tests.helpers.tflite_builder import (
    constant,
    fully_connected,
    running_sum,
    single_operator,
    tensor,
)

KB = 1024
NOT_KEPT = "tensors are not kept: call keep_tensors, then configure"
X = np.arange(8, dtype=np.int8).reshape(1, 8)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedBoard]:
    with simulated_board(tmp_path_factory.mktemp("sim")) as running:
        yield running


@pytest.fixture
def keeping(board: SimulatedBoard) -> SimulatedBoard:
    """With one FULLY_CONNECTED, whose tensors are the next that a configure keeps."""
    board.flash(fully_connected())
    board.client.keep_tensors(True)
    return board


def kept(board: SimulatedBoard, index: int) -> Array:
    info = board.client.describe_tensor(index)
    data = board.client.read_tensor(index, info.size_bytes)
    return np.frombuffer(data, info.dtype).reshape(info.shape)


def refusal(call: Any, *arguments: Any) -> tuple[str, str]:
    with pytest.raises(BoardRefused) as caught:
        call(*arguments)
    return caught.value.status, caught.value.text.splitlines()[-1]


def test_the_board_says_that_it_can_keep_tensors(board: SimulatedBoard) -> None:
    assert Capability.ANY_TENSOR in board.client.identify().capabilities


def test_every_tensor_is_the_one_of_tflm(board: SimulatedBoard) -> None:
    from tflite_micro import runtime

    model = load_model(KWS)
    x = np.random.default_rng(0).integers(-128, 128, model.inputs[0].shape).astype(np.int8)
    config = runtime.InterpreterConfig.kPreserveAllTensors
    tflm = runtime.Interpreter.from_bytes(model.content, [], 1024 * KB, config)
    tflm.set_input(x, 0)
    tflm.invoke()
    board.flash(model.content)
    board.client.keep_tensors(True)
    board.client.configure()

    board.run(x)

    assert {tensor.constant for tensor in model.tensors} == {False, True}
    for each in model.tensors:
        assert board.client.describe_tensor(each.index).name == each.name
        expected = tflm.GetTensor(each.index, 0)["tensor_data"]
        np.testing.assert_array_equal(kept(board, each.index), expected, strict=True)


def test_tensors_have_their_quantisation(keeping: SimulatedBoard) -> None:
    keeping.client.configure()

    info = keeping.client.describe_tensor(0)

    assert (info.name, info.dtype, info.shape, info.size_bytes) == ("x", "int8", (1, 8), 8)
    assert (round(info.scale, 6), info.zero_point) == (0.05, -5)


def test_outputs_are_the_same_whether_tensors_are_kept_or_not(keeping: SimulatedBoard) -> None:
    keeping.client.configure()
    outputs = keeping.run(X)
    keeping.client.keep_tensors(False)
    keeping.client.configure()
    np.testing.assert_array_equal(keeping.run(X), outputs)


def test_a_tensor_larger_than_a_message_is_read_whole(board: SimulatedBoard) -> None:
    x = np.random.default_rng(0).integers(-128, 128, (1, 300_000)).astype(np.int8)
    y = tensor((300_000, 1), "int8")
    inputs = [tensor(x.shape, "int8"), constant([300_000, 1])]
    options = {"new_shape": [300_000, 1]}
    board.flash(single_operator("RESHAPE", inputs, [y], options=options))
    board.client.keep_tensors(True)
    board.client.configure()
    board.run(x)

    for each in load_model(board.folder / "model.tflite").inputs:
        np.testing.assert_array_equal(kept(board, each.index), x)


def test_tensors_are_kept_from_the_next_configure_on(board: SimulatedBoard) -> None:
    board.flash(fully_connected())
    board.client.configure()
    board.client.keep_tensors(True)
    board.run(X)
    assert refusal(board.client.read_tensor, 0, 8) == ("BAD_ARGUMENT", f"read_tensor: {NOT_KEPT}")

    board.client.configure()
    board.client.keep_tensors(False)
    board.run(X)
    np.testing.assert_array_equal(kept(board, 0), X)

    board.client.configure()
    assert NOT_KEPT in refusal(board.client.describe_tensor, 0)[1]


def test_a_board_that_rebooted_keeps_no_tensors(keeping: SimulatedBoard) -> None:
    keeping.client.reboot()
    keeping.client.configure()
    assert NOT_KEPT in refusal(keeping.client.describe_tensor, 0)[1]


def test_kept_tensors_need_a_larger_arena_and_the_refusal_says_so(board: SimulatedBoard) -> None:
    board.flash(KWS.read_bytes())
    used = board.client.configure().arena_used_bytes
    board.client.keep_tensors(True)

    status, words = refusal(board.client.configure, used + 2 * KB)

    assert status == "NO_MEMORY"
    assert f"an arena of {used + 2 * KB} bytes is too small for the model with all tensors" in words
    board.client.keep_tensors(False)
    assert board.client.configure(used + 2 * KB).arena_used_bytes == used


@pytest.mark.parametrize("arena_bytes", [16, 1000, 8208, 8304])
def test_an_arena_below_all_measure_is_refused_too(
    keeping: SimulatedBoard, arena_bytes: int
) -> None:
    status, words = refusal(keeping.client.configure, arena_bytes)
    assert status == "NO_MEMORY"
    assert "with all tensors kept" in words


def test_the_use_of_an_arena_with_kept_tensors_is_all_of_it(keeping: SimulatedBoard) -> None:
    assert keeping.client.configure(20 * KB).arena_used_bytes == 20 * KB


def test_before_an_inference_no_tensor_is_given(keeping: SimulatedBoard) -> None:
    keeping.client.configure()
    words = "read_tensor: no inference has run since configure"
    assert refusal(keeping.client.read_tensor, 0, 8) == ("BAD_ARGUMENT", words)


def test_what_is_beyond_a_tensor_or_the_last_of_them_is_refused(keeping: SimulatedBoard) -> None:
    keeping.client.configure()
    keeping.run(X)
    assert "tensor 4 of 4" in refusal(keeping.client.describe_tensor, 4)[1]
    assert "tensor 0 has 8 bytes, not bytes 0 to 9" in refusal(keeping.client.read_tensor, 0, 9)[1]


def test_a_tensor_that_tflm_does_not_give_out_has_no_bytes(board: SimulatedBoard) -> None:
    board.flash(running_sum())
    board.client.keep_tensors(True)
    board.client.configure()
    board.run(np.ones((1, 4), np.float32))
    model = load_model(board.folder / "model.tflite")
    handle = next(each.index for each in model.tensors if each.dtype == "resource")

    info = board.client.describe_tensor(handle)

    assert (info.dtype, info.size_bytes) == ("resource", 0)
    assert board.client.read_tensor(handle, 0) == b""


def test_state_goes_on_with_kept_tensors(board: SimulatedBoard) -> None:
    one = np.ones((1, 4), np.float32)
    board.flash(running_sum())
    board.client.keep_tensors(True)
    board.client.configure()

    sums = [board.run(one)[0][0, 0] for _ in range(2)]
    before = kept(board, 3)[0, 0]
    board.client.reset_state()

    assert (sums, before) == ([1, 2], 1)
    assert board.run(one)[0][0, 0] == 1
