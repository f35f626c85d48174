"""Boards of a rig: any of a type is leased and given up, the one that runs the model is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardUnavailable, OtherModel
from pytest_autodeploy.base.lease import take_lease
from pytest_autodeploy.board.pool import Pool, claims
from pytest_autodeploy.board.pooled import PooledBoard
from pytest_autodeploy.board.select import make_board
from pytest_autodeploy.board.usb_ports import port_identity
from pytest_autodeploy.catalog.rig import RigBoard, read_rig
from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from tests.helpers.rigs import TYPE, running_boards, settings_of, write_rig
from tests.helpers.support import DIGITS, KWS

PORTS = {"a": "socket://192.0.2.1:1", "b": "socket://192.0.2.1:2", "c": "/dev/no-such-port"}


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    return write_rig(tmp_path / "lab.toml", PORTS)


def pooled(rig: Path, wait_s: float = 0.05) -> PooledBoard:
    board = make_board(TYPE, settings_of(rig, evb_wait=wait_s), None)
    assert isinstance(board, PooledBoard)
    return board


def test_the_boards_of_a_type_are_candidates_and_a_missing_port_comes_last(rig: Path) -> None:
    write_rig(rig, dict(reversed(PORTS.items())))
    pool = Pool(read_rig(rig))
    assert [board.name for board in pool.candidates(TYPE)] == ["b", "a", "c"]
    assert [board.name for board in pool.candidates(TYPE, avoid={"b"})] == ["a", "c"]
    assert [board.name for board in pool.candidates(f"{TYPE}@b")] == ["b"]


def test_a_board_that_is_taken_out_is_no_candidate_until_it_is_put_back(rig: Path) -> None:
    pool, state = Pool(read_rig(rig)), RigState.beside(rig)
    state.take_out("a", reason="cable")
    assert [board.name for board in pool.candidates(TYPE)] == ["b", "c"]
    with pytest.raises(BoardUnavailable) as raised:
        pool.candidates(TYPE, avoid={"b", "c"})
    text = str(raised.value)
    assert f"{TYPE}: no board of {rig} is left: a: taken out by hand, " in text
    assert "Z: cable; b: broke in this run, or has no meter; c: broke in " in text
    state.put_back("a")
    assert len(pool.candidates(TYPE)) == 3


def test_the_first_free_board_is_leased(rig: Path) -> None:
    pool = Pool(read_rig(rig))
    first, others = pool.take(TYPE, pool.candidates(TYPE), 0)
    second, more = pool.take(TYPE, pool.candidates(TYPE), 0)
    assert (first.name, second.name) == ("a", "b")
    standings = {each.board.name: each.text for each in pool.standings()}
    assert standings["a"].startswith("leased by process ")
    assert standings["c"] == "missing port /dev/no-such-port"
    for lease in (*others, *more):
        lease.release()
    assert [each.text for each in pool.standings()][:2] == ["free", "free"]


def test_a_board_with_a_probe_is_leased_by_it() -> None:
    board = RigBoard("a", "apollo4p_evb", port="/dev/ttyACM0", probe="001160002276")
    assert claims(board) == ["probe 1160002276"]


def test_a_board_is_leased_when_it_is_loaded_and_given_up_when_it_is_closed(tmp_path: Path) -> None:
    image = Image(load_model(DIGITS))
    with running_boards(tmp_path, {"a": DIGITS, "b": DIGITS}, "--tcp", "127.0.0.1:0") as ports:
        rig = write_rig(tmp_path / "lab.toml", ports)
        one, other, third = (pooled(rig) for _ in range(3))
        one.load(image)
        other.load(image)
        assert (one.rig_name, one.port) == ("a", ports["a"])
        assert (other.rig_name, other.port) == ("b", ports["b"])
        with pytest.raises(BoardUnavailable, match="one of the boards a, b is used by another run"):
            third.load(image)
        one.discard()  # it broke, and is still this run's
        with pytest.raises(BoardUnavailable, match="is used by another run"):
            third.load(image)
        one.load(image)
        one.close()
        third.load(image)
        assert (third.rig_name, one.rig_name, one.port) == ("a", "a", None)
        for board in (one, other, third):
            board.close()
        take_lease(port_identity(ports["a"]), 0).release()


def test_of_boards_that_run_a_model_the_right_one_is_found(tmp_path: Path) -> None:
    with running_boards(tmp_path, {"a": DIGITS, "b": KWS}) as ports:
        board = pooled(write_rig(tmp_path / "lab.toml", ports))
        for model, name in ((KWS, "b"), (DIGITS, "a"), (KWS, "b")):
            board.load(Image(load_model(model)))
            assert board.rig_name == name
        board.avoid.add("b")
        board.close()
        with pytest.raises(OtherModel, match=r"it runs a model of SHA-256 .*, not kws_ds_cnn"):
            board.load(Image(load_model(KWS)))
        board.close()


def test_one_board_can_be_named(tmp_path: Path) -> None:
    with running_boards(tmp_path, {"a": DIGITS, "b": DIGITS}) as ports:
        rig = write_rig(tmp_path / "lab.toml", ports)
        settings = settings_of(rig, evb=["name:b"])
        assert settings.evb == (f"{TYPE}@b",)
        board = make_board(settings.evb[0], settings, None)
        board.load(Image(load_model(DIGITS)))
        assert board.port == ports["b"]
        board.close()
