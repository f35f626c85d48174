"""Boards that are processes: late requests change nothing without an error, clients take turns."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_autodeploy.board.executable import Executable
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.board.virtual import VirtualBoard
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from tests.helpers.duplicates import client_of, duplicating_port
from tests.helpers.emulation import (
    echo_board,
    echo_builder,
    image,
    machine,
    needs_cmake,
    needs_qemu,
)
from tests.helpers.every_call import make_every_call
from tests.helpers.late_cases import Echo, plain_case, run_case
from tests.helpers.plain_client import PlainClient, PlainRefused
from tests.helpers.simulated_board import simulated_board
from tests.helpers.tflite_builder import constant, single_operator, tensor

CASES = int(os.environ.get("AUTODEPLOY_LATE_CASES", "20"))
"""So many are a few seconds; the variable asks for more."""

BYTES = 48


@dataclass(frozen=True)
class Bench:
    """A board at a TCP port to which nobody is connected."""

    url: str
    echo: Echo


Start = Callable[[Path, Path], AbstractContextManager[Bench]]


def reshape() -> bytes:
    """A model whose output is its input, on any engine."""
    shape = [1, BYTES // 4, 4]
    x, y = tensor((1, BYTES), "int8", name="x"), tensor(shape, "int8", name="y")
    return single_operator("RESHAPE", [x, constant(shape)], [y], options={"new_shape": shape})


@contextmanager
def simulated(folder: Path, _cache: Path) -> Iterator[Bench]:
    with simulated_board(folder, "--tcp", "127.0.0.1:0", board="apollo510_evb") as board:
        board.flash(reshape())
        board.client.close()
        yield Bench(board.ready["port"], Echo((BYTES,), layers=1, counts_events=True))


@contextmanager
def loaded(board: ProcessBoard, folder: Path) -> Iterator[Bench]:
    """A board that has been given the model for the engine echo."""
    try:
        board.load(image(folder, reshape()))  # type: ignore[attr-defined]
        board.client.close()
        assert board.port is not None
        yield Bench(board.port, Echo((BYTES,), layers=1))
    finally:
        board.close()


def qemu(name: str) -> Start:
    return lambda folder, cache: loaded(echo_board(name, cache), folder)


def virtual(name: str) -> Start:
    def start(folder: Path, cache: Path) -> AbstractContextManager[Bench]:
        pytest.importorskip("unicorn")
        built = echo_builder(name, cache).build(image(folder, reshape()))
        made = Executable(built.file(".elf"), built.build_id)
        board = VirtualBoard(f"virtual:{name}", machine(name), lambda _: made, timeout_s=30)
        return loaded(board, folder)

    return start


BOARDS = [
    pytest.param(simulated, id="sim"),
    pytest.param(qemu("mps2-an386"), id="qemu:mps2-an386", marks=needs_qemu),
    pytest.param(qemu("mps3-an547"), id="qemu:mps3-an547", marks=needs_qemu),
    pytest.param(virtual("mps2-an386"), id="virtual:mps2-an386", marks=needs_cmake),
]


@pytest.fixture(params=BOARDS)
def bench(request: pytest.FixtureRequest, tmp_path: Path, firmware_cache: Path) -> Iterator[Bench]:
    """Each kind of board that this PC can run."""
    with request.param(tmp_path, firmware_cache) as running:
        yield running


def test_every_call_works(bench: Bench) -> None:
    client = ValidatorClient(Link(bench.url, board="every call"), timeout_s=30)
    make_every_call(client, bench.echo)
    client.close()


def test_late_requests_change_nothing(bench: Bench) -> None:
    with duplicating_port(bench.url, seed=11) as (address, late):
        link = Link(f"socket://{address}", board="late")
        for case in range(CASES):
            run_case(ValidatorClient(link), case, bench.echo)
        link.close()
    assert late.count > 3 * CASES


def test_late_requests_of_generated_clients_change_nothing_without_an_error(bench: Bench) -> None:
    """Their `identify` does not come again: two late requests together pass for a new client."""
    refused = 0
    but = (calls.IDENTIFY.id,)
    with duplicating_port(bench.url, seed=12, but=but, swallow=True) as (address, late):
        for case in range(CASES):
            client = PlainClient(address, start=random.Random(case).choice((0, case, 2**32 - 99)))
            client.identify()
            try:
                plain_case(client, case, bench.echo)
            except PlainRefused:
                refused += 1
            client.close()
    assert late.count > CASES
    assert refused < CASES


def test_clients_of_both_kinds_take_turns(bench: Bench) -> None:
    with duplicating_port(bench.url, seed=13, chance=0) as (address, _):
        for case in range(3):
            plain = PlainClient(address)
            plain.identify()
            plain_case(plain, case, bench.echo)
            plain.close()
            ours = client_of(address)
            run_case(ours, case, bench.echo)
            ours.close()
