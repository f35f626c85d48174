"""A board that a lab lends: reached, proven, its power cut when it hangs, and given back."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardTimeout, BoardUnavailable
from pytest_autodeploy.board.again import Revivable
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.labgrid.board import LeasedBoard
from pytest_autodeploy.board.labgrid.client import NotOurs
from pytest_autodeploy.board.labgrid.lease import Held, Lease
from pytest_autodeploy.board.lock import BoardLocks
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.places import parse_place
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from tests.helpers.fake_labgrid import FakeLab, power_port, raw_port
from tests.helpers.fake_ssh import fake_ssh
from tests.helpers.fake_tools import ends
from tests.helpers.rpc_board import IDENTITY, EchoValidator, tcp_board
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)
SPEC = board_spec("apollo4p_evb")
SAYS = dataclasses.replace(IDENTITY, board="apollo4p_evb", model_sha256=bytes.fromhex(MODEL.sha256))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLab:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return FakeLab(tmp_path / "lab")


@pytest.fixture
def board(lab: FakeLab) -> Iterator[LeasedBoard]:
    """The board at the place a, which is closed at the end."""

    def reach(_held: Held, url: str) -> AttachedBoard:
        return AttachedBoard("labgrid:a", SPEC, url, timeout_s=0.3, lock_timeout_s=0.1)

    program = str(lab.client)
    lease = Lease("labgrid:a", SPEC.name, parse_place("a"), program=program, wait_s=60)
    board = LeasedBoard("labgrid:a", SPEC, lease, reach, restart_s=0.5)
    yield board
    board.close()
    assert lab.is_free()


@pytest.fixture
def hanging() -> Iterator[int]:
    """A port that is open, and where nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_a_board_behind_the_exporters_ssh_proves_itself(
    lab: FakeLab, board: LeasedBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = fake_ssh(tmp_path, monkeypatch)
    behind = {"proxy": "gate", "proxy_required": True}
    with tcp_board(EchoValidator(SAYS)) as echo:
        lab.place("a", raw_port(port_of(echo.url), extra=behind))
        assert board.serial is None
        assert board.load(Image(MODEL)).kind.name == "SIMULATED"
        assert board.serial == "a"
        assert board.port not in (None, echo.url)
        board.close()
    assert ends(int(pid.read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("powered", [True, False])
def test_only_where_there_is_a_switch_power_is_cut_once(
    lab: FakeLab, board: LeasedBoard, hanging: int, powered: bool
) -> None:
    lab.place("a", raw_port(hanging), *([power_port()] if powered else []))
    with pytest.raises(BoardTimeout, match="after its power was cut" if powered else "no answer"):
        board.load(Image(MODEL))
    assert lab.state["power"] == ([["a", "cycle"]] if powered else [])
    assert (board.use.breaks, board.use.retries) == ((1, 1) if powered else (0, 0))


def test_a_board_that_another_run_uses_keeps_its_power(
    lab: FakeLab, board: LeasedBoard, hanging: int
) -> None:
    lab.place("a", raw_port(hanging), power_port())
    other = BoardLocks("other")
    other.hold(f"socket://127.0.0.1:{hanging}")
    try:
        with pytest.raises(BoardUnavailable, match="is used by another run"):
            board.load(Image(MODEL))
    finally:
        other.release()
    assert lab.state["power"] == []


@pytest.mark.slow
def test_now_and_then_the_place_has_to_be_ours(
    lab: FakeLab, board: LeasedBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tcp_board(EchoValidator(SAYS)) as echo:
        lab.place("a", raw_port(port_of(echo.url)))
        board.load(Image(MODEL))
        lab.change(lambda state: state["places"]["a"].update(acquired=None))
        board.load(Image(MODEL))  # it is not asked for each test
        monkeypatch.setattr("pytest_autodeploy.board.labgrid.board.CHECK_S", 0.0)
        with pytest.raises(BoardUnavailable, match="was taken from this run: nobody has it"):
            board.load(Image(MODEL))


@pytest.mark.slow
@pytest.mark.parametrize("powered", [True, False])
def test_a_model_that_broke_its_board_gets_it_back_from_a_power_cycle(
    lab: FakeLab, board: LeasedBoard, powered: bool
) -> None:
    with tcp_board(EchoValidator(SAYS)) as first:
        lab.place("a", raw_port(port_of(first.url)), *([power_port()] if powered else []))
        assert board.again() is None  # no place is held yet
        board.load(Image(MODEL))
    assert board.again() == ("power cycle" if powered else None)
    assert isinstance(board, Revivable)
    if not powered:
        with pytest.raises(NotOurs, match="no compatible resource"):
            board.try_again()
        return
    board.try_again()
    assert lab.state["power"] == [["a", "cycle"]]
    with pytest.raises(BoardUnavailable, match="after its power was cut"):
        board.load(Image(MODEL))  # it does not come back
    assert len(lab.state["power"]) == 1  # and its power is not cut twice for that
