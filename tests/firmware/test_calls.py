"""The firmware's validator, compiled for this PC, driven by the project's own client."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.messages import (
    Capability,
    ClockMode,
    PowerOutcome,
    ResetCause,
    TensorType,
)
from tests.helpers.firmware_support import host_build, host_client, needs_host_build

pytestmark = needs_host_build
PICTURE_BYTES, VECTOR_BYTES, NUMBER_BYTES = 64 * 64, 40, 2
ARENA_BYTES = 2 * (4096 + 48 + 16)


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Path:
    return host_build(pytestconfig, "firmware") / "autodeploy"


@pytest.fixture
def board(program: Path) -> Iterator[ValidatorClient]:
    with host_client(program) as client:
        yield client


def test_configure_gives_the_arena_and_what_the_model_has(board: ValidatorClient) -> None:
    state = board.configure()
    assert (state.arena_bytes, state.arena_used_bytes) == (ARENA_BYTES, ARENA_BYTES)
    assert (state.inputs, state.outputs, state.layers, state.variables) == (3, 3, 3, 0)


def test_an_arena_of_another_size_is_possible(board: ValidatorClient) -> None:
    assert board.configure(ARENA_BYTES + 64).arena_bytes == ARENA_BYTES + 64


@pytest.mark.parametrize(
    ("arena_bytes", "words"),
    [
        (ARENA_BYTES - 1, "is too small; 8320 are needed"),
        (ARENA_BYTES + 65, "does not fit; the most is 8384"),
    ],
)
def test_a_wrong_arena_is_no_memory(board: ValidatorClient, arena_bytes: int, words: str) -> None:
    with pytest.raises(BoardRefused, match=words) as refused:
        board.configure(arena_bytes)
    assert refused.value.status == "NO_MEMORY"


def test_after_a_failed_configure_nothing_is_configured(board: ValidatorClient) -> None:
    board.configure()
    with pytest.raises(BoardRefused):
        board.configure(1)
    with pytest.raises(BoardRefused, match="configure has not succeeded") as refused:
        board.invoke()
    assert refused.value.status == "NOT_CONFIGURED"


def test_tensors_are_described(board: ValidatorClient) -> None:
    board.configure()
    picture, number = board.describe_input(0), board.describe_output(2)
    assert (picture.name, picture.element_type, picture.shape) == (
        "picture",
        TensorType.INT8,
        (1, 64, 64),
    )
    assert (picture.size_bytes, picture.scale, picture.zero_point) == (PICTURE_BYTES, 0.5, -3)
    assert (number.dtype, number.shape, number.size_bytes) == ("int16", (), NUMBER_BYTES)


@pytest.mark.parametrize("index", [3, 0xFFFFFFFF])
def test_a_tensor_that_does_not_exist_is_refused(board: ValidatorClient, index: int) -> None:
    board.configure()
    with pytest.raises(BoardRefused, match=f"output {index} of 3"):
        board.describe_output(index)


def test_every_output_echoes_its_input(board: ValidatorClient) -> None:
    board.configure()
    sent = [os.urandom(size) for size in (PICTURE_BYTES, VECTOR_BYTES, NUMBER_BYTES)]
    for index, data in enumerate(sent):
        board.write_input(index, data)
    board.invoke()
    assert [board.read_output(index, len(data)) for index, data in enumerate(sent)] == sent


def test_inputs_stay_as_written_and_outputs_as_inferred(board: ValidatorClient) -> None:
    board.configure()
    board.write_input(2, b"ab")
    board.invoke(3)
    board.write_input(2, b"xy")
    assert board.read_output(2, 2) == b"ab"
    board.invoke()
    assert board.read_output(2, 2) == b"xy"


def test_writing_beyond_a_tensor_is_refused(board: ValidatorClient) -> None:
    board.configure()
    with pytest.raises(BoardRefused, match="the input has 40 bytes, not 41 from byte 0 on"):
        board.write_input(1, bytes(41))


def test_reading_beyond_a_tensor_is_refused(board: ValidatorClient) -> None:
    board.configure()
    board.invoke()
    with pytest.raises(BoardRefused, match="the output has 2 bytes"):
        board.read_output(2, 3)


def test_outputs_before_an_inference_are_refused(board: ValidatorClient) -> None:
    board.configure()
    with pytest.raises(BoardRefused, match="no inference has run since configure"):
        board.read_output(2, 2)


def test_timing_tells_which_inference_was_the_first(board: ValidatorClient) -> None:
    board.configure()
    first, second = board.invoke(2), board.invoke()
    assert (first.includes_first, second.includes_first) == (True, False)
    assert len(first.ticks) == 2
    assert first.total_ticks == sum(first.ticks)
    board.configure()
    assert board.invoke().includes_first


@pytest.mark.parametrize("count", [0, 61])
def test_a_count_out_of_range_is_refused(board: ValidatorClient, count: int) -> None:
    board.configure()
    with pytest.raises(BoardRefused, match=f"count {count} is not 1 to 60"):
        board.invoke(count)


def test_the_largest_count_fits_an_answer(board: ValidatorClient) -> None:
    board.configure()
    assert len(board.invoke(60).ticks) == 60


def test_layers_are_those_of_the_latest_profile(board: ValidatorClient) -> None:
    board.configure()
    board.invoke(2)
    with pytest.raises(BoardRefused, match="no profile has run since configure"):
        board.read_layers()
    timing = board.profile()
    assert (timing.layers, timing.is_first) == (3, False)
    assert timing.profiler_ticks > 0
    board.invoke()
    layers = board.read_layers()
    assert [layer.tag for layer in layers] == ["ECHO"] * 3
    assert all(layer.counters == () for layer in layers)


def test_kept_tensors_are_read_whole(board: ValidatorClient) -> None:
    assert Capability.ANY_TENSOR in board.identify().capabilities
    board.keep_tensors(True)
    board.configure()
    picture = os.urandom(PICTURE_BYTES)
    board.write_input(0, picture)
    board.invoke()
    told = board.describe_tensor(3)
    assert (told.name, told.dtype, told.shape) == ("picture", "int8", (1, 64, 64))
    assert board.read_tensor(0, PICTURE_BYTES) == picture
    assert board.read_tensor(3, told.size_bytes) == picture


def test_a_tensor_is_refused_until_a_configure_keeps_it(board: ValidatorClient) -> None:
    board.configure()
    board.keep_tensors(True)
    board.invoke()
    with pytest.raises(BoardRefused, match="call keep_tensors, then configure") as refused:
        board.read_tensor(0, PICTURE_BYTES)
    assert refused.value.status == "BAD_ARGUMENT"


def test_tensors_are_not_kept_after_a_reboot(board: ValidatorClient) -> None:
    board.keep_tensors(True)
    board.reboot()
    board.configure()
    with pytest.raises(BoardRefused, match="call keep_tensors, then configure"):
        board.describe_tensor(0)


def test_a_clock_that_the_board_lacks_is_unsupported(board: ValidatorClient) -> None:
    board.set_clock(ClockMode.HIGH_PERFORMANCE)
    with pytest.raises(BoardRefused, match="host has no LP clock") as refused:
        board.set_clock(ClockMode.LOW_POWER)
    assert refused.value.status == "UNSUPPORTED"


def test_reset_state_keeps_inputs_and_outputs(board: ValidatorClient) -> None:
    board.configure()
    board.write_input(2, b"ab")
    board.invoke()
    board.reset_state()
    assert board.read_output(2, 2) == b"ab"


def test_a_board_that_rebooted_is_not_configured(board: ValidatorClient) -> None:
    board.configure()
    board.reboot()
    assert board.identify().build_id == "small"
    assert board.read_log() == ""
    with pytest.raises(BoardRefused, match="configure has not succeeded"):
        board.describe_input(0)


def test_it_says_why_it_started(board: ValidatorClient) -> None:
    assert board.describe_board().reset_cause is ResetCause.POWER_ON
    board.reboot()
    report = board.describe_board()
    assert report.reset_cause is ResetCause.REQUESTED
    assert [place.part for place in report.placements] == ["arena", "inputs", "model", "runtime"]
    assert report.placements[0].size_bytes == ARENA_BYTES + 64
    assert report.clock_hz == 0, "there is nothing to measure it with"


def test_an_inference_in_one_call_gives_all_outputs(board: ValidatorClient) -> None:
    board.configure()
    sent = [os.urandom(size) for size in (PICTURE_BYTES, VECTOR_BYTES, NUMBER_BYTES)]
    first = board.infer(sent, [len(data) for data in sent])
    assert (list(first.outputs), first.is_first) == (sent, True)
    assert not board.infer(sent, [len(data) for data in sent]).is_first


def test_a_board_with_fixed_counters_says_so(board: ValidatorClient) -> None:
    with pytest.raises(BoardRefused, match="the counters of host are fixed") as refused:
        board.select_counters()
    assert refused.value.status == "UNSUPPORTED"


def test_a_board_without_power_pins_says_so(board: ValidatorClient) -> None:
    with pytest.raises(BoardRefused, match="host has no power window") as refused:
        board.arm_power(0, 100)
    assert refused.value.status == "UNSUPPORTED"
    assert board.power_result().outcome is PowerOutcome.NONE
