"""The firmware with the echo engine on QEMU's Cortex-M boards."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.framing import frame
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import BoardKind, Capability, ResetCause, Status
from tests.helpers.firmware_support import (
    LOADED,
    REPLY_TIMEOUT_S,
    Wire,
    build,
    needs_qemu,
    request,
    words,
)

pytestmark = needs_qemu
RAM_BYTES = {"mps2-an386": 16 << 20, "mps3-an547": 2 << 30}
CORES = {"mps2-an386": "cortex-m4f", "mps3-an547": "cortex-m55"}
MACHINES = list(CORES)
MEGABYTE = 1 << 20
GARBAGE_SEED = 1
"""Its bytes do not end in what looks like the start of a frame."""
READ_NULL, CALL_DATA, OVERFLOW_STACK, TRAP, SPOIL_MODEL = 1, 2, 3, 4, 7
"""What the faulty engine is told by its input."""


def image(config: pytest.Config, machine: str, engine: str = "echo", **options: object) -> Path:
    board = machine.replace("-", "_")
    return build(config, BOARD=board, ENGINE=engine, **options) / "autodeploy.elf"


def arguments(machine: str, elf: Path) -> list[str]:
    options = ["-icount", "shift=5", "-display", "none", "-monitor", "none"]
    return ["qemu-system-arm", "-machine", machine, "-kernel", str(elf), *options]


@contextmanager
def emulated(machine: str, elf: Path, folder: Path) -> Iterator[ValidatorClient]:
    """A machine with the mailbox, behind its guard."""
    command = [str(RAM_BYTES[machine]), *arguments(machine, elf)]
    guard = ControlledProcess(machine, "pytest_autodeploy.board.qemu", command, folder / "log.txt")
    with ExitStack() as stack:
        stack.callback(guard.close)
        url = guard.reply("start", REPLY_TIMEOUT_S)["port"]
        client = ValidatorClient(Link(url, board=machine), timeout_s=REPLY_TIMEOUT_S)
        stack.callback(client.close)
        yield client


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def board(machine: str, pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[ValidatorClient]:
    with emulated(machine, image(pytestconfig, machine), tmp_path) as client:
        yield client


@pytest.fixture
def faulty(machine: str, pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[ValidatorClient]:
    with emulated(machine, image(pytestconfig, machine, "faulty"), tmp_path) as client:
        yield client


def test_it_boots_and_says_what_it_is(machine: str, board: ValidatorClient) -> None:
    identity = board.identify()
    assert identity.kind is BoardKind.EMULATED
    assert (identity.board, identity.core) == (machine.replace("-", "_"), CORES[machine])
    assert identity.capabilities == Capability.LAYER_PROFILE | Capability.ANY_TENSOR
    assert identity.clocks_hz[identity.clock] == identity.tick_hz
    assert board.read_log() == ""


def test_a_megabyte_goes_in_and_comes_out(board: ValidatorClient) -> None:
    state = board.configure()
    assert state.arena_used_bytes <= state.arena_bytes
    assert board.describe_input(0).size_bytes == MEGABYTE
    data = os.urandom(MEGABYTE)
    board.write_input(0, data)
    board.invoke()
    assert board.read_output(0, MEGABYTE) == data


def test_every_tensor_can_be_kept_and_read(board: ValidatorClient) -> None:
    board.keep_tensors(True)
    board.configure()
    data = os.urandom(MEGABYTE)
    board.write_input(0, data)
    board.invoke()
    tensors = [board.describe_tensor(index) for index in range(4)]
    assert [tensor.name for tensor in tensors] == ["picture", "vector"] * 2
    assert board.read_tensor(0, MEGABYTE) == board.read_tensor(2, MEGABYTE) == data
    assert board.read_tensor(3, tensors[3].size_bytes) == bytes(40)


def test_an_engine_that_keeps_no_tensors_says_so(faulty: ValidatorClient) -> None:
    assert Capability.ANY_TENSOR not in faulty.identify().capabilities
    with pytest.raises(BoardRefused, match="engine faulty, as it was built, cannot") as refused:
        faulty.keep_tensors(True)
    assert refused.value.status == "UNSUPPORTED"
    faulty.keep_tensors(False)


def test_garbage_on_the_line_is_dropped(board: ValidatorClient) -> None:
    port = board.link._port
    port.write(random.Random(GARBAGE_SEED).randbytes(100_000))
    board.link.drain(REPLY_TIMEOUT_S)
    board.configure()
    damaged = bytearray(frame(request(6, words(1))))
    damaged[-1] ^= 1
    port.write(bytes(damaged))
    assert board.invoke().includes_first


def test_a_truncated_request_is_forgotten(board: ValidatorClient) -> None:
    board.link._port.write(frame(request(5, bytes(1000)))[:500])
    board.link.drain(REPLY_TIMEOUT_S)
    assert board.identify().engine == "echo"


def test_it_resets(board: ValidatorClient) -> None:
    board.configure()
    board.reboot()
    assert board.identify().engine == "echo"
    with pytest.raises(BoardRefused, match="configure has not succeeded"):
        board.invoke()


def test_instruction_counts_are_exactly_repeatable(
    machine: str, board: ValidatorClient, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    board.configure()
    ticks = {*board.invoke(3).ticks, *board.invoke(2).ticks}
    profiled = board.profile()
    layers = board.read_layers()
    assert len(ticks) == 1
    assert ticks < {*ticks, profiled.ticks}
    assert 0 < profiled.profiler_ticks < profiled.ticks
    with emulated(machine, image(pytestconfig, machine), tmp_path) as other:
        other.configure()
        other.describe_input(0)  # the counter stands elsewhere
        assert set(other.invoke(2).ticks) == ticks
        assert other.profile() == profiled
        assert other.read_layers() == layers
    assert [layer.tag for layer in layers] == ["ECHO", "ECHO"]
    assert sum(layer.ticks for layer in layers) < ticks.pop()


def test_it_says_where_things_are_and_why_it_started(board: ValidatorClient) -> None:
    report = board.describe_board()
    where = {place.part: place for place in report.placements}
    assert {part: place.memory for part, place in where.items()} == {
        "arena": "RAM",
        "inputs": "RAM",
        "model": "",  # the engine echo has none
        "runtime": "CODE",
    }
    assert where["arena"].size_bytes >= 2 * MEGABYTE
    first, second = sorted((where["arena"], where["inputs"]), key=lambda place: place.address)
    assert first.address + first.size_bytes <= second.address
    assert (report.reset_cause, report.failed_step) == (ResetCause.POWER_ON, "")
    board.reboot()
    assert board.describe_board().reset_cause is ResetCause.REQUESTED


def test_a_board_that_crashed_says_so(faulty: ValidatorClient) -> None:
    faulty.configure()
    faulty.write_input(0, bytes([OVERFLOW_STACK]))
    faulty.timeout_s = 1.0
    with pytest.raises((BoardRefused, BoardDied)) as failed:
        faulty.invoke()
    faulty.timeout_s = REPLY_TIMEOUT_S
    log, cause = str(failed.value), faulty.describe_board().reset_cause
    assert (cause is ResetCause.FAULT) == ("restarted after" in log)


def test_a_bare_uart_is_a_link_too(machine: str, pytestconfig: pytest.Config) -> None:
    ours, theirs = socket.socketpair()
    command = arguments(machine, image(pytestconfig, machine))
    command += ["-chardev", f"socket,id=link,fd={theirs.fileno()}", "-serial", "chardev:link"]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as qemu:
        theirs.close()
        try:
            wire = Wire(ours)
            wire.send(b"stray")
            assert wire.ask(1, sequence=5)[4:8] == words(5)
            assert wire.ask(2, words(0), sequence=6)[-4:] == words(Status.OK)
        finally:
            qemu.kill()


def test_an_engine_that_crashes_in_its_arena_is_no_memory(faulty: ValidatorClient) -> None:
    with pytest.raises(BoardRefused, match="an arena of 8 bytes is too small") as refused:
        faulty.configure(8)
    assert refused.value.status == "NO_MEMORY"
    assert faulty.configure().inputs == 1


@pytest.mark.parametrize("order", [READ_NULL, CALL_DATA, TRAP])
def test_an_engine_that_crashes_in_an_inference_is_told(
    faulty: ValidatorClient, order: int
) -> None:
    faulty.configure()
    faulty.write_input(0, bytes([order]))
    with pytest.raises(BoardRefused, match="the engine crashed") as refused:
        faulty.invoke()
    assert refused.value.status == "INVOKE_FAILED"
    with pytest.raises(BoardRefused, match="configure has not succeeded"):
        faulty.invoke()
    faulty.configure()
    assert faulty.invoke().includes_first


@pytest.mark.slow
def test_a_model_that_was_loaded_is_proven_again_after_a_crash(
    machine: str, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    """A crash may have written anywhere: what is whole runs, what is damaged does not."""
    model = bytes(range(250)) * 8
    sha256 = hashlib.sha256(model).digest()
    elf = image(pytestconfig, machine, "faulty", CONFIG_DIR=LOADED)
    with emulated(machine, elf, tmp_path) as board:
        board.begin_model(len(model), sha256)
        board.write_model(model)
        board.prove_model(len(model))
        for order in (READ_NULL, SPOIL_MODEL):
            board.configure()
            board.write_input(0, bytes([order]))
            with pytest.raises(BoardRefused, match="the engine crashed"):
                board.invoke()
        with pytest.raises(BoardRefused, match="the model is damaged") as refused:
            board.configure()
        assert refused.value.status == "BAD_MODEL"
        assert board.identify().model_sha256 == b""
        with pytest.raises(BoardRefused, match="no model has been loaded"):
            board.configure()


def test_a_stack_that_overflows_ends_in_words(faulty: ValidatorClient) -> None:
    faulty.configure()
    faulty.write_input(0, bytes([OVERFLOW_STACK]))
    faulty.timeout_s = 1.0
    with pytest.raises((BoardRefused, BoardDied)) as failed:
        faulty.invoke()
    faulty.timeout_s = REPLY_TIMEOUT_S
    log = str(failed.value)
    assert "the stack had overflowed" in log or "the engine crashed" in log
