"""Requests that arrive late or again never change outputs without an error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.sessions import Place, Sessions
from tests.helpers.duplicates import Duplicates, client_of, duplicating_board
from tests.helpers.firmware_support import FIRMWARE, build, needs_host_build
from tests.helpers.late_cases import Echo, old_way, one_call, plain_case, run_case
from tests.helpers.plain_client import PlainClient, PlainRefused
from tests.helpers.rpc_board import EchoValidator, pty_board

SIZES = (40, 2)
ECHO = Echo(SIZES, layers=2)

FIRMWARE_CASES, PYTHON_CASES, PLAIN_CASES = 800, 100, 100


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Path:
    """Firmware whose inputs fit a message."""
    options = {"BOARD": "host", "SANITIZE": "ON", "CONFIG_DIR": FIRMWARE / "tests" / "tiny"}
    return build(pytestconfig, "firmware", **options) / "autodeploy"


@needs_host_build
@pytest.mark.slow
def test_late_requests_change_nothing_on_firmware(program: Path) -> None:
    with duplicating_board(program, seed=1) as (address, late):
        link = Link(f"socket://{address}", board="late")
        for case in range(FIRMWARE_CASES):
            run_case(ValidatorClient(link), case, ECHO)
        link.close()
    assert late.count > 5 * FIRMWARE_CASES


def python_board(seed: int, sessions: Sessions | None = None) -> Iterator[tuple[Link, Duplicates]]:
    validator = EchoValidator(tensors=[bytearray(size) for size in SIZES])
    with pty_board(validator, sessions) as board:
        late = Duplicates(board.middle.stream, seed)
        board.middle.stream = late
        link = Link(board.url, board="late")
        yield link, late
        link.close()


def test_late_requests_change_nothing_on_a_board_in_python() -> None:
    for link, late in python_board(seed=2):
        for case in range(PYTHON_CASES):
            board_case(ValidatorClient(link), case)
        assert late.count > 3 * PYTHON_CASES


def board_case(client: ValidatorClient, case: int) -> None:
    chance = random.Random(case)
    client.configure()
    for _ in range(chance.randint(1, 4)):
        sent = [chance.randbytes(size) for size in SIZES]
        assert chance.choice((old_way, one_call))(client, sent, ECHO) == sent, f"case {case}"


class Unordered(Sessions):
    """What boards of version 1 did: every request is carried out when it comes."""

    def place(self, _number: int, _request: bytes) -> Place:
        return Place.NEXT


def test_the_same_late_requests_do_harm_where_nothing_is_ordered() -> None:
    harmed = 0
    for link, _ in python_board(seed=2, sessions=Unordered()):
        client = ValidatorClient(link)
        for case in range(100):
            sent = [random.Random(case).randbytes(size) for size in SIZES]
            harmed += old_way(client, sent, ECHO) != sent
    assert harmed > 0


@needs_host_build
def test_late_requests_of_generated_clients_change_nothing_without_an_error(program: Path) -> None:
    """Their `identify` does not come again: two late requests together pass for a new client."""
    refused = 0
    with duplicating_board(program, 3, but=(calls.IDENTIFY.id,), swallow=True) as (address, late):
        for case in range(PLAIN_CASES):
            client = PlainClient(address, start=random.Random(case).choice((0, case, 2**32 - 99)))
            client.identify()
            try:
                plain_case(client, case, ECHO)
            except PlainRefused:
                refused += 1
            client.close()
    assert late.count > PLAIN_CASES
    assert refused < 3 * PLAIN_CASES // 4, "most often those before left something behind"


@needs_host_build
def test_clients_of_both_kinds_take_turns(program: Path) -> None:
    with duplicating_board(program, seed=4, chance=0) as (address, _):
        for case in range(4):
            plain = PlainClient(address)
            plain.identify()
            plain_case(plain, case, ECHO)
            plain.close()
            ours = client_of(address)
            run_case(ours, case, ECHO)
            ours.close()


@needs_host_build
def test_a_client_whose_session_another_has_ended_is_told(program: Path) -> None:
    with duplicating_board(program, seed=5, chance=0) as (address, _):
        first = client_of(address)
        first.configure()
        second = ValidatorClient(first.link)
        second.identify()
        assert first.invoke().includes_first, "an identify alone ends nothing"
        second.configure()
        with pytest.raises(BoardDied, match="invoke: the session with the board has ended") as end:
            first.invoke()
        assert "last started by: power on." in str(end.value)
        first.close()


@needs_host_build
def test_a_board_that_restarted_by_itself_is_not_taken_for_the_one_before(program: Path) -> None:
    with duplicating_board(program, seed=6, chance=0) as (address, _):
        client, other = client_of(address), None
        client.configure()
        other = ValidatorClient(client.link)
        other.reboot()
        with pytest.raises(BoardDied, match="has restarted, or another program"):
            client.reset_state()
        with pytest.raises(BoardRefused, match="configure has not succeeded"):
            client.invoke()
        client.close()


@pytest.mark.parametrize("start", [0, 7, 2**31 - 2, 2**31, 2**32 - 99])
@needs_host_build
def test_a_generated_client_starts_at_any_number(program: Path, start: int) -> None:
    with duplicating_board(program, seed=7, chance=0) as (address, _):
        client = PlainClient(address, start)
        client.identify()
        plain_case(client, start, ECHO)
        client.close()


@needs_host_build
def test_a_session_that_has_used_its_numbers_is_renewed(program: Path) -> None:
    with duplicating_board(program, seed=8, chance=0) as (address, _):
        client = client_of(address)
        session = client.identify().session
        client._exchange._sequence = session + 2**16 - 10
        run_case(client, 1, ECHO)
        assert client.identify().session > session + 2**16
        client.close()


def test_the_rules_are_those_of_the_firmware() -> None:
    """Both say the same of 20,000 random requests; the firmware's are in its unit tests."""
    sessions = Sessions()
    first = sessions.give(7)
    assert first == 0x80000000 | (7 * 0x9E3779B1 & 0x7FFF0000)
    assert sessions.give(7) == first
    assert sessions.place(first + 1, b"a") is Place.NEXT
    assert sessions.place(first + 1, b"a") is Place.AGAIN
    assert sessions.place(first + 1, b"b") is Place.STALE
    assert sessions.give(7) == 0x80000000 | (first + 0x10000) % 2**31
