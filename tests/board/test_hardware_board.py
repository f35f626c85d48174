"""An EVB behind a J-Link: flashed when it has to be, found, and identified."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from pytest_autodeploy.base.errors import BoardUnavailable, WrongFirmware
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from tests.helpers.hardware_bench import (
    OTHER_MODEL,
    PROBE,
    Bench,
    Firmware,
    free_port,
    install,
    usb_port,
)
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


def test_a_blank_board_is_flashed_and_proves_it(bench: Bench, image: Image) -> None:
    board = bench.board()
    identity = board.load(image)
    assert (identity.model_sha256.hex(), identity.build_id) == (image.model.sha256, "build1")
    assert (bench.flashed, board.port) == (["build1"], bench.port)
    board.close()


def test_a_board_with_other_firmware_is_flashed(bench: Bench, image: Image) -> None:
    bench.boot_old()
    board = bench.board()
    assert board.load(image).build_id == "build1"
    board.close()


def test_a_board_that_runs_the_image_is_not_flashed_again(bench: Bench, image: Image) -> None:
    for _run in range(2):
        board = bench.board()
        for _test in range(2):
            board.load(image)
        board.close()
        bench.next = {"build_id": "build1"}
    assert bench.flashed == ["build1"]
    assert len(bench.built) == 2  # once in each run


def test_another_build_of_the_same_model_is_flashed(bench: Bench, image: Image) -> None:
    for _run in range(2):
        board = bench.board()
        board.load(image)
        board.close()
    assert bench.flashed == ["build1", "build2"]


def test_another_model_is_flashed(bench: Bench, image: Image) -> None:
    board = bench.board()
    board.load(image)
    board.load(Image(load_model(KWS)))
    board.load(image)
    assert bench.flashed == ["build1", "build2", "build1"]
    board.close()


def test_what_is_no_hardware_is_refused_and_not_flashed(bench: Bench, image: Image) -> None:
    bench.boot(Firmware(bench.folder, "old", OTHER_MODEL, kind="SIMULATED"))
    board = bench.board()
    with pytest.raises(WrongFirmware, match="answers as a board of the kind 'simulated'"):
        board.load(image)
    assert bench.flashed == []
    board.close()


def test_the_probe_of_the_user_is_passed_on(bench: Bench, image: Image) -> None:
    board = bench.board()
    board.load(image)
    board.close()
    listed, flashed = bench.calls
    assert "ShowEmuList" in listed["script"]
    at = flashed["arguments"].index("-SelectEmuBySN")
    assert flashed["arguments"][at + 1] == PROBE
    assert flashed["script"].splitlines() == [
        "ExitOnError 1",
        "Device AMAP42KK-KBR",
        "SelectInterface SWD",
        "Speed 4000",
        "Connect",
        "LoadFile image.bin, 0x18000",
        "Reset",
        "Go",
        "Exit",
    ]


def test_a_uart_board_is_found_by_its_probe(bench: Bench, image: Image) -> None:
    bench.vid, bench.serial = 0x1366, f"00{PROBE}"
    bench.extra_ports += [usb_port("/dev/ttyACM9", 0x1366, "000440130584")]
    bench.next = {"board": "apollo3p_evb"}
    board = bench.board(name="apollo3p_evb")
    board.load(image)
    assert board.port == bench.port
    assert "LoadFile image.bin, 0xc000" in bench.calls[-1]["script"]
    board.close()


def test_several_ports_are_told_before_the_flash(bench: Bench, image: Image) -> None:
    bench.boot_old()
    bench.extra_ports += [usb_port("/dev/ttyACM9", 0xCAFE, "1234")]
    board = bench.board()
    with pytest.raises(BoardUnavailable, match="several serial ports may be that of the apollo4p"):
        board.load(image)
    assert bench.flashed == []
    board.close()


def test_a_port_in_use_by_another_program_is_told_before_the_flash(
    bench: Bench, image: Image
) -> None:
    bench.boot_old()
    board = bench.board()
    with (
        serial.Serial(bench.port, exclusive=True),
        pytest.raises(BoardUnavailable, match="is in use by another program"),
    ):
        board.load(image)
    assert bench.flashed == []
    board.close()


def test_a_port_that_the_user_names_is_used(bench: Bench, image: Image) -> None:
    bench.vid = 0x0403
    board = bench.board(port=bench.port)
    board.load(image)
    assert board.port == bench.port
    board.close()


def test_a_url_that_nobody_listens_on_is_an_error_before_the_flash(
    bench: Bench, image: Image
) -> None:
    board = bench.board(port=f"socket://127.0.0.1:{free_port()}")
    with pytest.raises(BoardUnavailable, match="cannot open socket://"):
        board.load(image)
    assert bench.flashed == []
    board.close()
