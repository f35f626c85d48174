"""What can go wrong with an EVB: each failure has its error, and silent boards are reset."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import (
    BoardDied,
    BoardError,
    BoardTimeout,
    BoardUnavailable,
    WrongFirmware,
)
from pytest_autodeploy.board.jlink import JLink
from pytest_autodeploy.board.probe import FlashFailed, ProbeUnavailable
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.hardware_bench import OTHER_MODEL, SHORT_TIMEOUTS, TIMEOUTS, Bench, install
from tests.helpers.support import DIGITS, KWS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the bench needs a pty")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = install(monkeypatch, tmp_path)
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def image() -> Image:
    return Image(load_model(DIGITS))


def session_of(bench: Bench, image: Image) -> ModelSession:
    board = bench.board(timeout_s=1.5)
    return ModelSession(image.model, board, inputs=random_inputs(image.model, 1, seed=1))


def test_a_tool_that_is_missing_is_told_before_anything_is_built(
    bench: Bench, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    board = bench.board()
    with pytest.raises(ProbeUnavailable, match="not on PATH"):
        board.load(image)
    assert bench.built == []
    board.close()


def test_without_a_probe_the_firmware_is_built_so_that_its_errors_are_seen(
    bench: Bench, image: Image
) -> None:
    bench.probes = []
    bench.be("good")
    board = bench.board()
    with pytest.raises(ProbeUnavailable, match="no debug probe is connected"):
        board.load(image)
    assert len(bench.built) == 1
    board.close()


def test_a_flash_that_fails_says_what_the_tool_said(bench: Bench, image: Image) -> None:
    bench.boot_old()
    bench.be("verify fails")
    board = bench.board()
    with pytest.raises(FlashFailed, match=r"flash: what was read back .*Verification failed @"):
        board.load(image)
    with pytest.raises(BoardUnavailable, match="runs nothing yet"):
        _ = board.client
    board.close()


def test_a_flash_that_did_nothing_is_caught_by_the_identity(bench: Bench, image: Image) -> None:
    bench.boot_old()
    bench.be("does nothing")
    board = bench.board()
    with pytest.raises(WrongFirmware, match=r"the flash did nothing: .*still runs .*\(build old\)"):
        board.load(image)
    board.close()


def test_a_port_that_vanishes_after_the_flash(bench: Bench, image: Image) -> None:
    bench.boot_old()
    bench.next = {"behaviour": "no port"}
    board = bench.board(timeouts=SHORT_TIMEOUTS)
    for _again in range(2):
        with pytest.raises(BoardDied) as raised:
            board.load(image)
    assert "flash: the port of the board does not come back; reset" in str(raised.value)
    assert "looked for a USB serial port of CAFE:????; ports that exist: none" in str(raised.value)
    assert (bench.flashed, bench.resets) == (["build1"], 1)
    board.close()


def test_a_board_that_answers_with_another_model(bench: Bench, image: Image) -> None:
    bench.next = {"model_sha256": OTHER_MODEL}
    board = bench.board()
    with pytest.raises(WrongFirmware, match=r"answers with another model: .*abababababab.*, not "):
        board.load(image)
    board.close()


def test_a_board_that_answers_as_another_board(bench: Bench, image: Image) -> None:
    bench.next = {"board": "apollo510_evb"}
    board = bench.board()
    with pytest.raises(WrongFirmware, match="another board: 'apollo510_evb', not 'apollo4p_evb'"):
        board.load(image)
    board.close()


def test_a_board_that_dies_in_an_invoke_is_back_for_the_next_test(
    bench: Bench, image: Image
) -> None:
    bench.next = {"behaviour": "dies"}
    session = session_of(bench, image)
    with pytest.raises(BoardDied, match=r"infer: the board died in the call: its port .* vanished"):
        session.run()
    session.begin()
    session.ensure()
    assert (bench.flashed, bench.resets) == (["build1"], 1)
    session.board.close()


@pytest.mark.slow
def test_a_board_that_falls_silent_in_an_invoke_is_reset_for_the_next_test(
    bench: Bench, image: Image
) -> None:
    bench.next = {"behaviour": "hangs"}
    session = session_of(bench, image)
    with pytest.raises(BoardTimeout, match=r"infer: no answer .*after .*\n.*reset through its pro"):
        session.run()
    session.begin()
    session.ensure()
    assert (bench.flashed, bench.resets) == (["build1"], 1)
    session.board.close()


@pytest.mark.slow
def test_a_silent_board_is_reset_once(bench: Bench, image: Image) -> None:
    bench.next = {"behaviour": "silent until reset"}
    board = bench.board(timeouts=dataclasses.replace(TIMEOUTS, answer_s=5.0, restart_s=0.5))
    board.load(image)
    assert bench.resets == 1
    board.close()


def test_a_board_that_stays_silent_is_broken_for_this_image_alone(
    bench: Bench, image: Image
) -> None:
    bench.next = {"behaviour": "silent"}
    board = bench.board(timeouts=SHORT_TIMEOUTS)
    for _again in range(3):
        with pytest.raises(
            BoardTimeout, match="flash: the board stays silent; reset through the"
        ) as caught:
            board.load(image)
        assert "power and cable: " in str(caught.value)
        assert "firmware: it may crash at its start" in str(caught.value)
    assert (bench.flashed, bench.resets) == (["build1"], 1)
    with pytest.raises(BoardTimeout):
        board.load(Image(load_model(KWS)))
    assert bench.flashed == ["build1", "build2"]
    board.close()


def test_a_reset_that_fails_says_why(bench: Bench, image: Image) -> None:
    board = bench.board()
    board.load(image)
    bench.be("cannot connect")
    bench.off()
    with pytest.raises(BoardTimeout, match="does not answer any more; reset: the probe cannot rea"):
        board.load(image)
    board.close()


@pytest.mark.parametrize("mode", ["good", "verify fails", "does nothing", "hangs"])
def test_nothing_is_left_behind(bench: Bench, image: Image, mode: str) -> None:
    bench.boot_old()
    bench.be(mode)
    timeout_s = 0.5 if mode == "hangs" else 30
    board = bench.board(probe=JLink("apollo4p_evb", "AMAP42KK-KBR", flash_timeout_s=timeout_s))
    with nullcontext() if mode == "good" else pytest.raises(BoardError):
        board.load(image)
    board.close()
    left = [path.name for path in Path(tempfile.gettempdir()).rglob("*") if path.is_file()]
    assert [name for name in left if not name.endswith(".lock")] == []
    again = bench.board()
    bench.be("good")
    again.load(image)
    again.close()
