"""The image of an EVB, built by its SDK, on a virtual chip in this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused
from pytest_autodeploy.board.executable import image_source
from pytest_autodeploy.board.virtual import VirtualBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder
from pytest_autodeploy.image.trees import SDK_VARIABLE
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.live import PowerOptions, measured
from pytest_autodeploy.power.simulated import SimulatedMeter
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import BoardReport, ClockMode, PowerOutcome, ResetCause
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import fully_connected

pytest.importorskip("unicorn")
pytestmark = pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")

NAME = "apollo3p_evb"
RUNTIME = "helia_rt_v1_3_0"
"""The Apache-2.0 one that neuralSPOT has."""

_NOWHERE = 0xF000_0001
_BURST_AVAILABLE = 1 << 6


def build_options(cache: Path) -> BuildOptions:
    sdk = Path(os.environ[SDK_VARIABLE])
    runtime = str(sdk / "extern" / "tensorflow" / RUNTIME)
    return BuildOptions(sdk=str(sdk), tflm_root=runtime, cache=cache)


@pytest.fixture(scope="module")
def image(firmware_cache: Path) -> Path:
    """What would be flashed."""
    options = build_options(firmware_cache)
    builder = NeuralSpotBuilder(board_spec(NAME), options, emulated=f"virtual:{NAME}")
    return builder.build(Image(load_model(DIGITS))).file(".axf")


@dataclass
class Started:
    """A board that runs; ``crash`` lets the program jump to where nothing is."""

    client: ValidatorClient
    crash: threading.Event = field(default_factory=threading.Event)
    crashed: threading.Event = field(default_factory=threading.Event)


@contextmanager
def started(image: Path) -> Iterator[Started]:
    from pytest_autodeploy.virtual.image_file import read_image
    from pytest_autodeploy.virtual.link import SerialLink
    from pytest_autodeploy.virtual.machine import Machine

    chip = find_chip(board_spec(NAME).chip)
    assert chip is not None
    link, stop = SerialLink(), threading.Event()
    machine = Machine(chip, read_image(image, chip.vectors), link, lambda _line: None)
    client = ValidatorClient(Link(link.url, board="evb"), timeout_s=30)
    board = Started(client)

    def over() -> bool:
        if board.crash.is_set():
            board.crash.clear()
            machine.core.set_register(15, _NOWHERE)
            board.crashed.set()
        return stop.is_set()

    thread = threading.Thread(target=machine.run, args=(over,), daemon=True)
    thread.start()
    try:
        yield board
    finally:
        stop.set()
        thread.join()
        client.close()
        link.close()


def places(report: BoardReport) -> dict[str, str]:
    return {place.part: place.memory for place in report.placements}


def test_it_says_where_things_are_and_what_its_clock_is(image: Path) -> None:
    with started(image) as board:
        report = board.client.describe_board()
        assert places(report) == {
            "arena": "DTCM",
            "inputs": "SRAM",
            "model": "MRAM",
            "runtime": "MRAM",
        }
        assert (report.reset_cause, report.failed_step) == (ResetCause.POWER_ON, "")
        assert report.clock_hz == pytest.approx(96e6, rel=0.01)
        board.client.set_clock(ClockMode.LOW_POWER)
        assert board.client.describe_board().clock_hz == pytest.approx(48e6, rel=0.01)
        board.client.reboot()
        assert board.client.describe_board().reset_cause is ResetCause.REQUESTED


def test_a_power_window_takes_what_the_latency_says(tmp_path: Path, firmware_cache: Path) -> None:
    """Of a model so small that all that runs beside it would show."""
    file = tmp_path / "small.tflite"
    file.write_bytes(fully_connected(depth=16, units=16))
    model = load_model(file)
    board = VirtualBoard(
        f"virtual:{NAME}",
        board_spec(NAME),
        image_source(f"virtual:{NAME}", board_spec(NAME), build_options(firmware_cache)),
        timeout_s=60,
    )
    try:
        session = ModelSession(model, board, inputs=random_inputs(model, 1, seed=1))
        latency = session.latency(3)
        options = PowerOptions(window_s=0.5, repeats=1)
        energy = measured(session, SimulatedMeter(board), options, "HP", None)
    finally:
        board.close()
    assert energy.us == pytest.approx(latency.median_us, rel=0.02)


def test_an_alarm_that_came_after_a_wait_calls_nothing_in_the_next_one(image: Path) -> None:
    """The SDK's handler counts ticks of a FreeRTOS that was not started: a null pointer."""
    with started(image) as board:
        board.client.set_clock(ClockMode.LOW_POWER)
        for _ in range(3):
            board.client.arm_power(0, 20)
            assert board.client.power_result().outcome is PowerOutcome.NO_TRIGGER
        assert board.client.describe_board().reset_cause is ResetCause.POWER_ON


def test_an_arena_that_is_far_too_small_is_a_refusal(image: Path) -> None:
    """TFLM does not check its first allocations: some of these sizes crash it."""
    with started(image) as board:
        needed = board.client.configure().arena_used_bytes
        words = []
        for size in range(16, needed, 112):
            with pytest.raises(BoardRefused, match="is too small") as refused:
                board.client.configure(size)
            assert refused.value.status == "NO_MEMORY"
            words.append(refused.value.text)
        assert any("the engine crashed" in each for each in words)
        assert board.client.describe_board().reset_cause is ResetCause.POWER_ON
        board.client.configure()
        assert board.client.invoke().includes_first


def test_a_crash_outside_of_an_inference_is_told_after_the_restart(image: Path) -> None:
    with started(image) as board:
        board.client.configure()
        board.crash.set()
        board.crashed.wait(timeout=30)
        assert board.client.describe_board().reset_cause is ResetCause.FAULT
        assert "restarted after a crash at 0xF0000000" in board.client.read_log()
        with pytest.raises(BoardDied, match="It was last started by: fault"):
            board.client.invoke()
        board.client.reboot()
        assert board.client.describe_board().reset_cause is ResetCause.REQUESTED


def test_a_chip_without_burst_mode_is_not_a_silent_board(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """neuralSPOT's NS_TRY ends in an endless loop there."""
    from pytest_autodeploy.virtual.devices.mcuctrl import FEATUREENABLE, Mcuctrl

    read = Mcuctrl.read

    def without_burst(self: Any, offset: int) -> int:
        value = read(self, offset)
        return value & ~_BURST_AVAILABLE if offset == FEATUREENABLE else value

    monkeypatch.setattr(Mcuctrl, "read", without_burst)
    with started(image) as board:
        identity, report = board.client.identify(), board.client.describe_board()
        assert identity.clock is ClockMode.LOW_POWER
        assert report.failed_step == "ns_power_config"
        assert report.clock_hz == pytest.approx(48e6, rel=0.01)
        assert "start-up: ns_power_config failed" in board.client.read_log()
        with pytest.raises(BoardRefused, match="the chip did not change its clock to HP"):
            board.client.set_clock(ClockMode.HIGH_PERFORMANCE)
        assert board.client.configure().layers > 0
        assert board.client.invoke().includes_first
