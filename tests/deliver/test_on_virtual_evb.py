"""What is delivered for an EVB runs on a virtual one: the example, and the power application."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.board.executable import image_source
from pytest_autodeploy.board.virtual import VirtualBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.catalog.kinds import spec_of
from pytest_autodeploy.catalog.supply import power_states
from pytest_autodeploy.deliver.characterize import characterize
from pytest_autodeploy.deliver.delivery import Delivery
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder
from pytest_autodeploy.image.trees import SDK_VARIABLE
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.simulated import SimulatedMeter
from pytest_autodeploy.power.window import Ending, Window, WindowFinder
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.virtual.image_file import read_image
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.machine import SAID, Machine
from pytest_autodeploy.virtual.supply import Wires
from tests.helpers.driven_machine import Driven
from tests.helpers.emulation import needs_qemu
from tests.helpers.support import DIGITS

pytest.importorskip("unicorn")
pytestmark = pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")

NAME = "apollo3p_evb"
ID = f"virtual:{NAME}"
QEMU_ID = "qemu:mps2-an386"
SPEC = board_spec(NAME)
MODEL = load_model(DIGITS)
PATIENCE_S = 120


@pytest.fixture(scope="module")
def options(firmware_cache: Path) -> BuildOptions:
    """The Apache-2.0 runtime that neuralSPOT has."""
    sdk = Path(os.environ[SDK_VARIABLE])
    runtime = str(sdk / "extern" / "tensorflow" / "helia_rt_v1_3_0")
    return BuildOptions(sdk=str(sdk), tflm_root=runtime, cache=firmware_cache)


@pytest.fixture(scope="module")
def delivery(options: BuildOptions, tmp_path_factory: pytest.TempPathFactory) -> Delivery:
    """What is made for the EVB from what the virtual one has found out."""
    board = VirtualBoard.of(ID, SPEC, options, timeout_s=PATIENCE_S)
    try:
        with Reference(MODEL) as reference:
            session = ModelSession(MODEL, board, inputs=random_inputs(MODEL, 2, seed=1))
            found = characterize(session, reference, Tolerance())
    finally:
        board.close()
    out = tmp_path_factory.mktemp("out")
    return generate(MODEL, SPEC, out, ["library", "power"], found, options)


@contextmanager
def started(image: Path, lines: list[str], wires: Wires | None = None) -> Iterator[Machine]:
    """The machine of the EVB's chip with an image."""
    chip = find_chip(SPEC.chip)
    assert chip is not None
    image_file = read_image(image, chip.vectors)
    link = SerialLink()
    try:
        yield Machine(chip, image_file, link, lines.append, wires=wires)
    finally:
        link.close()


def ended(lines: list[str]) -> bool:
    """Whether the program has come to its end, which is a breakpoint."""
    return any(line.startswith("breakpoint") for line in lines)


def test_the_example_finds_that_all_outputs_match(delivery: Delivery) -> None:
    lines: list[str] = []
    until = time.monotonic() + PATIENCE_S
    with started(delivery.out / "bin" / f"{DIGITS.stem}_example.axf", lines) as machine:
        machine.run(lambda: ended(lines) or time.monotonic() > until)
    assert [line for line in lines if SAID in line][-1:] == [f"{SAID}digits_cnn: all outputs match"]


def marked(machine: Machine, wires: Wires) -> Window:
    """The window of a machine, as the meter of a run finds it."""
    meter = SimulatedMeter(Driven(machine, wires))
    facts, pins = meter.open(), dict(SPEC.app_pins)
    finder = WindowFinder(facts)
    none = PowerOutcome.NONE
    handshake = Handshake(meter, facts, finder, board=ID, pins=pins, outcome=lambda: none)
    with meter.streaming() as chunks:
        return handshake.window(chunks, PATIENCE_S)


def test_the_power_application_marks_its_window(delivery: Delivery) -> None:
    pins = SPEC.app_pins
    wires = Wires(pins["in0"], pins["in1"], pins["trigger"])
    with started(delivery.out / "bin" / f"{DIGITS.stem}_power.axf", [], wires) as machine:
        window = marked(machine, wires)
    assert window.ending is Ending.IN1
    assert window.mean_w == pytest.approx(power_states(SPEC.clocks_hz["HP"]).running, rel=0.01)


@pytest.mark.parametrize("form", ["stripped", "flat"])
def test_an_image_without_symbols_runs(form: str, options: BuildOptions, tmp_path: Path) -> None:
    image = Image(MODEL)
    built = NeuralSpotBuilder(SPEC, options, emulated=ID).build(image)
    file = tmp_path / f"image{'.bin' if form == 'flat' else '.axf'}"
    copy = ["-O", "binary"] if form == "flat" else ["--strip-all"]
    objcopy = str(shutil.which("arm-none-eabi-objcopy"))
    subprocess.run([objcopy, *copy, built.file(".axf"), file], check=True)
    source = image_source(ID, SPEC, options, file=file, licence_ok=True)
    board = VirtualBoard(ID, SPEC, source, timeout_s=PATIENCE_S)
    try:
        assert board.load(image).model_sha256.hex() == MODEL.sha256
        ModelSession(MODEL, board, inputs=random_inputs(MODEL, 1, seed=1)).run()
    finally:
        board.close()


def test_a_second_run_builds_nothing(options: BuildOptions) -> None:
    image = Image(MODEL)
    first = NeuralSpotBuilder(SPEC, options, emulated=ID).build(image)
    again = NeuralSpotBuilder(SPEC, options, emulated=ID).build(image)
    assert not again.fresh
    assert again.file(".axf") == first.file(".axf")


@needs_qemu
def test_its_outputs_are_those_of_qemu_bit_for_bit(options: BuildOptions) -> None:
    """The same kernels, built by the SDK for the chip and by CMake for QEMU's machine."""
    inputs = random_inputs(MODEL, 3, seed=1)
    machine = spec_of(QEMU_ID)
    builder = CMakeBuilder(machine, options, board_id=QEMU_ID)
    boards = (
        EmulatedBoard(QEMU_ID, machine, builder, timeout_s=PATIENCE_S),
        VirtualBoard.of(ID, SPEC, options, timeout_s=PATIENCE_S),
    )
    ran = []
    for board in boards:
        try:
            ran.append(ModelSession(MODEL, board, inputs=inputs).run().outputs[0])
        finally:
            board.close()
    np.testing.assert_array_equal(ran[0], ran[1])
