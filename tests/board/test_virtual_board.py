"""Virtual boards: an image that a board would run, on an emulated core in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import (
    BoardDied,
    BoardError,
    BoardTimeout,
    BoardUnavailable,
    MissingExtra,
    WrongFirmware,
)
from pytest_autodeploy.board.base import timed
from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.board.executable import Executable, image_source
from pytest_autodeploy.board.virtual import VirtualBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.kinds import VIRTUAL, spec_of
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.errors import TreeError
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.messages import BoardReport
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.emulation import (
    echo_board,
    echo_builder,
    image,
    machine,
    needs_cmake,
    needs_qemu,
    needs_tflm,
)
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import relu

pytest.importorskip("unicorn")

NAME = "mps2-an386"
ID = f"virtual:{NAME}"


@pytest.fixture
def small(tmp_path: Path) -> Image:
    """A model of one operator whose output is like its input."""
    return image(tmp_path, relu())


@pytest.fixture
def board(firmware_cache: Path) -> Iterator[VirtualBoard]:
    """The machine with the echo engine."""
    builder = echo_builder(NAME, firmware_cache)

    def source(image: Image) -> Executable:
        built = builder.build(image)
        return Executable(built.file(".elf"), built.build_id)

    virtual = VirtualBoard(ID, machine(NAME), source, timeout_s=30)
    yield virtual
    virtual.close()


@needs_cmake
def test_the_model_runs_and_the_board_has_proven_itself(board: VirtualBoard, small: Image) -> None:
    identity = board.load(small)
    assert identity.board == NAME
    assert identity.model_sha256.hex() == small.model.sha256
    pid = board.pid
    board.load(small)
    assert board.pid == pid  # nothing was started again


@needs_cmake
def test_outputs_and_times_come_through_a_session(board: VirtualBoard, small: Image) -> None:
    inputs = random_inputs(small.model, 3, seed=1)
    session = ModelSession(small.model, board, inputs=inputs)
    run = session.run()
    np.testing.assert_array_equal(run.outputs[0], inputs.arrays[0])
    latency = session.latency(runs=3)
    assert latency.source == "emulated"
    assert len(set(latency.samples_us)) == 1


@needs_cmake
def test_the_board_measures_its_clock_while_every_instruction_counts(
    board: VirtualBoard, small: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time passes as outside, a busy PC stops it between the two clocks that are compared."""
    wanted: list[bool] = []
    measured: list[bool] = []
    want, describe = board.want_times, ValidatorClient.describe_board

    def want_times(on: bool) -> None:
        wanted.append(on)
        want(on)

    def describe_board(client: ValidatorClient) -> BoardReport:
        measured.append(wanted[-1:] == [True])
        return describe(client)

    monkeypatch.setattr(board, "want_times", want_times)
    monkeypatch.setattr(ValidatorClient, "describe_board", describe_board)
    ModelSession(small.model, board, inputs=random_inputs(small.model, 1, seed=1)).run()
    assert measured
    assert all(measured)
    assert not wanted[-1]


@needs_qemu
def test_it_takes_as_many_instructions_as_qemu_counts(
    board: VirtualBoard, small: Image, firmware_cache: Path
) -> None:
    qemu = echo_board(NAME, firmware_cache)
    ticks = []
    try:
        for each in (board, qemu):
            each.load(small)
            each.client.configure(0)
            with timed(each):
                ticks.append(each.client.invoke(2).ticks[1])
    finally:
        qemu.close()
    # one tick is 1.25 instructions: where a reading falls decides about one of them
    assert ticks[0] == pytest.approx(ticks[1], rel=0.01, abs=1)


@needs_qemu
@needs_tflm
def test_a_model_has_qemus_outputs_and_its_count(firmware_cache: Path) -> None:
    """TFLM's kernels: what IT blocks skip is counted by both."""
    model, spec, options = load_model(DIGITS), machine(NAME), BuildOptions(cache=firmware_cache)
    qemu_id = f"qemu:{NAME}"
    qemu = EmulatedBoard(qemu_id, spec, CMakeBuilder(spec, options, board_id=qemu_id), timeout_s=60)
    ran = []
    for each in (VirtualBoard.of(ID, spec, options, timeout_s=60), qemu):
        session = ModelSession(model, each, inputs=random_inputs(model, 3, seed=1))
        try:
            ran.append((session.run().outputs[0], session.latency(1).median_us))
        finally:
            each.close()
    np.testing.assert_array_equal(ran[0][0], ran[1][0])
    assert ran[0][1] == pytest.approx(ran[1][1], rel=0.01)


@needs_cmake
def test_a_debugger_holds_the_board_and_lets_it_go(small: Image, firmware_cache: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    built = echo_builder(NAME, firmware_cache).build(small)
    made = Executable(built.file(".elf"), built.build_id)
    board = VirtualBoard(ID, machine(NAME), lambda _image: made, timeout_s=2, gdb_port=port)
    other = VirtualBoard(ID, machine(NAME), lambda _image: made, timeout_s=2, gdb_port=port)
    try:
        board.load(small)
        with pytest.raises(BoardUnavailable, match=f"port {port} for GDB is not free"):
            other.load(small)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as debugger:
            debugger.sendall(b"$?#3f")
            assert debugger.makefile("rb").read(5) == b"+$S05"
            with pytest.raises(BoardTimeout):
                board.client.identify()
        assert board.load(small).board == NAME
    finally:
        board.close()
        other.close()


@needs_cmake
def test_a_reboot_brings_it_back(board: VirtualBoard, small: Image) -> None:
    before = board.load(small)
    board.client.reboot()
    assert board.client.identify() == before


@needs_cmake
def test_a_process_that_dies_is_told_and_replaced(board: VirtualBoard, small: Image) -> None:
    board.load(small)
    assert board.pid is not None
    os.kill(board.pid, signal.SIGKILL)
    with pytest.raises(BoardError) as error:
        board.client.identify()
    explained = board.explain(error.value)
    assert isinstance(explained, BoardDied)
    assert "died of SIGKILL" in explained.what
    board.discard()
    assert board.load(small).board == NAME


@needs_cmake
def test_a_board_that_stays_silent_is_told_with_what_its_machine_says(
    board: VirtualBoard, small: Image
) -> None:
    board.load(small)
    assert board._folder is not None
    log = Path(board._folder.path) / "log.txt"
    with log.open("a", encoding="utf-8") as file:
        file.write("fault: read of 0x30000000 at 0x00001234\n")
    explained = board.explain(BoardTimeout("invoke: no answer", board=ID, seconds=5))
    assert isinstance(explained, BoardTimeout)
    assert "fault: read of 0x30000000 at 0x00001234" in str(explained)


@needs_cmake
def test_an_image_of_another_model_is_refused(
    board: VirtualBoard, small: Image, tmp_path: Path
) -> None:
    board.load(small)
    other = image(tmp_path / "other", relu((1, 9)))
    running = board._running
    assert running is not None
    given = image_source(ID, machine(NAME), BuildOptions(), file=running.path, licence_ok=True)
    foreign = VirtualBoard(ID, machine(NAME), given, timeout_s=30)
    try:
        with pytest.raises(WrongFirmware, match="it runs a model of SHA-256"):
            foreign.load(other)
        assert foreign.load(small).model_sha256.hex() == small.model.sha256
    finally:
        foreign.close()


class TestImages:
    def test_one_whose_origin_is_unknown_needs_the_users_word(self, tmp_path: Path) -> None:
        file = tmp_path / "image.bin"
        file.write_bytes(b"\0")
        spec = board_spec("apollo3p_evb")
        with pytest.raises(BoardUnavailable, match="licensed for Ambiq CPUs only") as error:
            image_source("virtual:apollo3p_evb", spec, BuildOptions(), file=file)
        assert "--evb-image-licence-ok" in str(error.value.hint)

    def test_one_that_is_missing_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(BoardUnavailable, match="no such file"):
            image_source(ID, machine(NAME), BuildOptions(), file=tmp_path / "none.axf")

    @pytest.mark.parametrize("content", [b"", b"\x7fELF damaged"])
    def test_one_that_is_damaged_is_told(
        self, content: bytes, small: Image, tmp_path: Path
    ) -> None:
        file = tmp_path / "image.elf"
        file.write_bytes(content)
        source = image_source(ID, machine(NAME), BuildOptions(), file=file, licence_ok=True)
        board = VirtualBoard(ID, machine(NAME), source, timeout_s=5)
        try:
            with pytest.raises(BoardUnavailable, match=r"cannot start: .*image.elf is"):
                board.load(small)
        finally:
            board.close()

    def test_a_build_with_a_runtime_for_ambiqs_cpus_alone_is_refused(
        self, small: Image, tmp_path: Path
    ) -> None:
        from tests.helpers.neuralspot_bench import Bench

        with pytest.MonkeyPatch.context() as patch:
            bench = Bench(tmp_path / "sdk", patch)
            options = BuildOptions(sdk=str(bench.sdk), cache=tmp_path / "cache")
            source = image_source("virtual:apollo3p_evb", board_spec("apollo3p_evb"), options)
            with pytest.raises(TreeError, match="which an emulated board is not"):
                source(small)


def test_only_boards_whose_chip_has_a_table_can_be_virtual() -> None:
    assert spec_of("virtual:apollo3p_evb") is board_spec("apollo3p_evb")
    assert spec_of(ID) is machine(NAME)
    from pytest_autodeploy.catalog.boards import UnknownBoard

    with pytest.raises(UnknownBoard) as error:
        spec_of("virtual:apollo510_evb")
    assert str(error.value.hint).endswith("Boards: virtual:apollo3p_evb, virtual:mps2-an386")


def test_without_the_extra_its_name_is_told(small: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    board = VirtualBoard(ID, machine(NAME), lambda _image: pytest.fail("built"), timeout_s=5)
    with pytest.raises(MissingExtra, match="virtual"):
        board.load(small)
    assert VIRTUAL.source == "emulated"
