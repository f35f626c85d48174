"""The simulated board with models: flash, configure, run, and refusals with TFLM's own words."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.fit import largest_arena
from pytest_autodeploy.rpc.messages import BoardKind, Capability, ClockMode
from pytest_autodeploy.sim.flash import distribution_version
from tests.helpers.simulated_board import Array, SimulatedBoard, simulated_board
from tests.helpers.tflite_builder import (
    add_two_inputs,
    build_model,
    constant,
    fully_connected,
    operator,
    running_sum,
    single_operator,
    tensor,
    without_kernel,
)

KB = 1024


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedBoard]:
    with simulated_board(tmp_path_factory.mktemp("sim")) as running:
        yield running


@pytest.fixture
def flashed(board: SimulatedBoard) -> SimulatedBoard:
    board.flash(fully_connected())
    return board


def directly(content: bytes, *inputs: Array) -> Array:
    """The first output of TFLM without a board in between."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(content, arena_size=64 * KB)
    for index, array in enumerate(inputs):
        interpreter.set_input(array, index)
    interpreter.invoke()
    output: Array = interpreter.get_output(0)
    return output


def reshaped(dtype: str) -> bytes:
    """A model that gives its input of four elements back in another shape."""
    x, y = tensor((1, 4), dtype), tensor((4, 1), dtype)
    return single_operator("RESHAPE", [x, constant([4, 1])], [y], options={"new_shape": [4, 1]})


def refusal(call: Any, *arguments: Any) -> tuple[str, str]:
    with pytest.raises(BoardRefused) as caught:
        call(*arguments)
    return caught.value.status, caught.value.text


def test_the_board_says_what_it_is(board: SimulatedBoard) -> None:
    identity = board.client.identify()

    assert (identity.kind, identity.board) == (BoardKind.SIMULATED, "apollo4p_evb")
    assert (identity.core, identity.engine) == ("cortex-m4f", "tflm")
    assert identity.clocks_hz == (96_000_000, 192_000_000)
    assert identity.tick_hz == 192_000_000
    assert identity.capabilities == (
        Capability.LAYER_PROFILE
        | Capability.CLOCK_MODES
        | Capability.POWER_WINDOW
        | Capability.ANY_TENSOR
    )
    assert identity.build_id.startswith("sim-")


def test_a_flashed_model_is_identified_by_its_hash(board: SimulatedBoard) -> None:
    content = fully_connected(seed=5)

    answer = board.flash(content)

    assert answer == {"ok": True, "sha256": hashlib.sha256(content).hexdigest()}
    assert board.client.identify().model_sha256 == hashlib.sha256(content).digest()


def test_a_flash_can_name_its_build(board: SimulatedBoard, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(fully_connected())

    board.control(op="flash", model=str(path), build_id="b-17")

    assert board.client.identify().build_id == "b-17"


def test_outputs_are_those_of_tflm(flashed: SimulatedBoard) -> None:
    x = np.arange(-4, 4, dtype=np.int8).reshape(1, 8)
    flashed.client.configure()

    np.testing.assert_array_equal(flashed.run(x)[0], directly(fully_connected(), x))


def test_every_input_counts(board: SimulatedBoard) -> None:
    a, b = np.array([[1, 2, 3, 4]], np.int8), np.array([[9, -9, 30, 120]], np.int8)
    board.flash(add_two_inputs())
    board.client.configure()

    np.testing.assert_array_equal(board.run(a, b)[0], directly(add_two_inputs(), a, b))


def test_every_output_can_be_read(board: SimulatedBoard) -> None:
    x, a, b = tensor((1, 4), name="x"), tensor((1, 4), name="a"), tensor((1, 4), name="b")
    operators = [operator("RELU", [x], [a]), operator("NEG", [x], [b])]
    board.flash(build_model(operators=operators, inputs=[x], outputs=[a, b]))
    state = board.client.configure()

    board.run(np.array([[-1, 2, -3, 4]], np.float32))

    assert (state.inputs, state.outputs) == (1, 2)
    assert board.output(0).tolist() == [[0, 2, 0, 4]]
    assert board.output(1).tolist() == [[1, -2, 3, -4]]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]
)
def test_elements_of_this_type_pass_unchanged(board: SimulatedBoard, dtype: str) -> None:
    x = np.array([[1, 0, 7, 100]]).astype(dtype)
    board.flash(reshaped(dtype))
    board.client.configure()

    np.testing.assert_array_equal(board.run(x)[0], x.reshape(4, 1))


@pytest.mark.parametrize("dtype", ["uint16", "int4"])
def test_elements_of_this_type_are_refused_in_words(board: SimulatedBoard, dtype: str) -> None:
    board.flash(reshaped(dtype))

    status, words = refusal(board.client.configure)

    assert status == "UNSUPPORTED"
    assert f"is {dtype}" in words


def test_tensors_are_described_with_their_quantisation(flashed: SimulatedBoard) -> None:
    flashed.client.configure()

    info = flashed.client.describe_input(0)

    assert (info.name, info.dtype, info.shape, info.size_bytes) == ("x", "int8", (1, 8), 8)
    assert info.scale == pytest.approx(0.05)
    assert info.zero_point == -5


def test_an_input_can_be_written_in_pieces(flashed: SimulatedBoard) -> None:
    x = np.arange(8, dtype=np.int8).reshape(1, 8)
    flashed.client.configure()
    flashed.run(x)
    changed = x.copy()
    changed[0, 3] = 50

    flashed.client.write_input(0, changed.tobytes())
    flashed.client.invoke()

    np.testing.assert_array_equal(flashed.output(0), directly(fully_connected(), changed))


def test_the_arena_is_the_largest_unless_a_size_is_given(flashed: SimulatedBoard) -> None:
    assert flashed.client.configure().arena_bytes == largest_arena(board_spec("apollo4p_evb"))[1]

    flashed.flash(fully_connected(), arena_bytes=20 * KB)

    assert flashed.client.configure().arena_bytes == 20 * KB
    assert flashed.client.configure(30 * KB).arena_bytes == 30 * KB


def test_arena_use_is_what_tflm_reports(
    flashed: SimulatedBoard, capfd: pytest.CaptureFixture[str]
) -> None:
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(fully_connected(), arena_size=64 * KB)
    interpreter.print_allocations()

    used = flashed.client.configure(64 * KB).arena_used_bytes

    assert f"Arena allocation total {used} bytes" in capfd.readouterr().err
    assert "Arena allocation" not in flashed.client.read_log()


def test_an_arena_that_is_too_small_is_refused_in_tflms_words(flashed: SimulatedBoard) -> None:
    status, words = refusal(flashed.client.configure, 512)

    assert status == "NO_MEMORY"
    assert "an arena of 512 bytes is too small" in words
    assert "TFLM says: Failed to resize buffer. Requested:" in words


def test_after_a_refused_arena_a_larger_one_works(flashed: SimulatedBoard) -> None:
    refusal(flashed.client.configure, 512)
    assert refusal(flashed.client.invoke)[0] == "NOT_CONFIGURED"

    assert flashed.client.configure(20 * KB).layers == 1


def test_an_arena_that_the_board_lacks_is_refused_with_the_sizes(flashed: SimulatedBoard) -> None:
    status, words = refusal(flashed.client.configure, 900 * KB)

    assert status == "NO_MEMORY"
    assert "arena 900.0 KB + reserved 289.8 KB > SRAM 1,024.0 KB" in words


def test_a_model_that_does_not_fit_is_not_flashed(board: SimulatedBoard) -> None:
    good = fully_connected(seed=1)
    board.flash(good)

    answer = board.flash(fully_connected("float32", depth=1024, units=512))

    assert answer["ok"] is False
    assert "model 2,0" in answer["error"]
    assert "> MRAM 1,952.0 KB" in answer["error"]
    assert board.client.identify().model_sha256 == hashlib.sha256(good).digest()


def test_a_damaged_model_is_refused(board: SimulatedBoard) -> None:
    board.flash(fully_connected()[:200])

    status, words = refusal(board.client.configure)

    assert status == "BAD_MODEL"
    assert "damaged" in words


def test_an_operator_without_kernel_is_refused_by_name(board: SimulatedBoard) -> None:
    board.flash(without_kernel())

    status, words = refusal(board.client.configure)

    assert status == "UNSUPPORTED_OPERATOR"
    assert "ATAN2" in words


def test_a_model_that_tflm_cannot_prepare_is_refused(board: SimulatedBoard) -> None:
    quantised, not_quantised = tensor((1, 4), "int8", scale=0.1), tensor((1, 4), "int8")
    board.flash(single_operator("SOFTMAX", [quantised], [not_quantised]))

    status, words = refusal(board.client.configure)

    assert status == "BAD_MODEL"
    assert "Node SOFTMAX" in words


def test_an_inference_that_fails_is_refused_and_the_board_lives(board: SimulatedBoard) -> None:
    board.flash(single_operator("GATHER", [tensor((4, 4)), constant([99])], [tensor((1, 4))]))
    board.client.configure()

    status, words = refusal(board.client.invoke)

    assert status == "INVOKE_FAILED"
    assert "Node GATHER" in words
    assert board.client.identify().board == "apollo4p_evb"


def test_time_is_the_sum_of_the_layers_and_always_the_same(flashed: SimulatedBoard) -> None:
    flashed.client.configure()

    first, warm = flashed.client.invoke(3), flashed.client.invoke(1)
    profiled = flashed.client.profile()

    layers = flashed.client.read_layers()
    assert [layer.tag for layer in layers] == ["FULLY_CONNECTED"]
    assert first.ticks == (layers[0].ticks,) * 3
    assert first.total_ticks == 3 * layers[0].ticks
    assert warm.ticks == first.ticks[:1]
    assert (profiled.ticks, profiled.profiler_ticks) == (warm.total_ticks, 0)
    assert (first.includes_first, warm.includes_first) == (True, False)


def test_layers_are_those_of_the_main_graph_in_order(board: SimulatedBoard) -> None:
    board.flash(running_sum())
    state = board.client.configure()
    board.run(np.ones((1, 4), np.float32))
    assert board.client.profile().layers == state.layers

    tags = [layer.tag for layer in board.client.read_layers()]

    assert tags == ["CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"]
    assert (state.layers, state.variables) == (5, 1)


def test_state_goes_on_until_it_is_reset(board: SimulatedBoard) -> None:
    one = np.ones((1, 4), np.float32)
    board.flash(running_sum())
    board.client.configure()

    sums = [board.run(one)[0][0, 0] for _ in range(3)]
    board.client.reset_state()
    after_reset = board.run(one)[0][0, 0]
    board.client.configure()
    after_configure = board.run(one)[0][0, 0]

    assert sums == [1, 2, 3]
    assert (after_reset, after_configure) == (1, 1)


def test_the_clock_changes_the_ticks_per_second_and_not_the_cycles(
    flashed: SimulatedBoard,
) -> None:
    flashed.client.configure()
    cycles = flashed.client.invoke().ticks

    flashed.client.set_clock(ClockMode.LOW_POWER)

    identity = flashed.client.identify()
    assert (identity.clock, identity.tick_hz) == (ClockMode.LOW_POWER, 96_000_000)
    assert flashed.client.invoke().ticks == cycles


def test_a_reboot_keeps_the_model_and_forgets_the_rest(flashed: SimulatedBoard) -> None:
    flashed.client.configure()
    flashed.client.set_clock(ClockMode.LOW_POWER)

    flashed.client.reboot()

    identity = flashed.client.identify()
    assert identity.model_sha256 == hashlib.sha256(fully_connected()).digest()
    assert identity.clock is ClockMode.HIGH_PERFORMANCE
    assert flashed.client.read_log() == ""
    assert refusal(flashed.client.invoke)[0] == "NOT_CONFIGURED"


def test_the_reset_of_the_control_channel_does_so_too(flashed: SimulatedBoard) -> None:
    flashed.client.configure()

    assert flashed.control(op="reset") == {"ok": True}

    with pytest.raises(BoardDied, match="the session with the board has ended"):
        flashed.client.invoke()
    assert refusal(flashed.client.invoke)[0] == "NOT_CONFIGURED"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda client: client.describe_input(1), "input 1 of 1"),
        (lambda client: client.write_input(0, bytes(9)), "input 0 has 8 bytes, not bytes 0 to 9"),
        (lambda client: client.invoke(0), "count 0 is not 1 to 256"),
        (lambda client: client.read_output(0, 5), "output 0 has 4 bytes"),
        (lambda client: client.read_output(0, 4), "no inference has run"),
        (lambda client: client.read_layers(), "no profile has run"),
    ],
    ids=["index", "length", "count", "output length", "output too early", "layers too early"],
)
def test_a_wrong_argument_is_refused_in_words(
    flashed: SimulatedBoard, call: Any, words: str
) -> None:
    flashed.client.configure()

    status, said = refusal(call, flashed.client)

    assert status == "BAD_ARGUMENT"
    assert words in said


@pytest.mark.parametrize("name", ["tflite-micro", "pytest-autodeploy"])
def test_a_version_is_what_its_distribution_says(name: str) -> None:
    assert distribution_version(name) == importlib.metadata.version(name)


def test_the_version_of_what_is_not_installed_is_unknown() -> None:
    assert distribution_version("no-such-distribution") == "unknown"
