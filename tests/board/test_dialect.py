"""``--evb-dialect``: which protocol the board behind a port speaks, and what it can prove."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from serial import serial_for_url

from pytest_autodeploy.base.errors import BoardTimeout, WrongFirmware
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.dialect import Dialect
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.framing import parse_header
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import BoardKind
from pytest_autodeploy.rpc.stock_client import StockClient
from tests.helpers.rpc_board import IDENTITY, Board, EchoValidator, pty_board, tcp_board
from tests.helpers.stock_board import stock_pty, stock_tcp
from tests.helpers.stock_firmware import StockFirmware
from tests.helpers.support import KWS

Transport = Callable[[EchoValidator], AbstractContextManager[Board]]
MODEL = load_model(KWS)
OWN = dataclasses.replace(
    IDENTITY,
    kind=BoardKind.HARDWARE,
    board="apollo4p_evb",
    model_sha256=bytes.fromhex(MODEL.sha256),
)


@contextmanager
def attached(
    url: str, dialect: Dialect, *, require_proof: bool = False, timeout_s: float = 10
) -> Iterator[AttachedBoard]:
    board = AttachedBoard(
        "apollo4p_evb",
        board_spec("apollo4p_evb"),
        url,
        dialect=dialect,
        require_proof=require_proof,
        timeout_s=timeout_s,
    )
    try:
        yield board
    finally:
        board.close()


@pytest.mark.parametrize("dialect", ["auto", "stock"])
def test_stock_firmware_is_found_and_proves_nothing(dialect: Dialect) -> None:
    with stock_tcp(StockFirmware(KWS)) as stock, attached(stock.url, dialect) as board:
        identity = board.load(Image(MODEL))
        assert isinstance(board.client, StockClient)
        assert identity.model_sha256 == b""
        assert identity.kind is BoardKind.HARDWARE
        assert stock.refused == 0  # no frame of ours has reached it


@pytest.mark.parametrize("transport", [pty_board, tcp_board])
def test_auto_finds_our_own_firmware_on_the_same_port(transport: Transport) -> None:
    with transport(EchoValidator(OWN)) as own, attached(own.url, "auto") as board:
        identity = board.load(Image(MODEL))
        assert identity.model_sha256.hex() == MODEL.sha256
        assert not isinstance(board.client, StockClient)
        assert board.client.describe_input(1).size_bytes == 8


def test_own_sends_no_frame_of_theirs() -> None:
    seen: list[bytes] = []

    def see(data: bytes) -> bytes:
        seen.append(data)
        return data

    with pty_board(EchoValidator(OWN)) as own, attached(own.url, "own") as board:
        own.middle.requests.append(see)
        board.load(Image(MODEL))
    assert parse_header(seen[0][:6])


@pytest.mark.parametrize("dialect", ["auto", "stock"])
def test_where_proof_is_required_stock_firmware_is_refused(dialect: Dialect) -> None:
    with stock_tcp(StockFirmware(KWS)) as stock:
        with (
            attached(stock.url, dialect, require_proof=True) as board,
            pytest.raises(WrongFirmware, match="does not tell which model it runs") as refused,
        ):
            board.load(Image(MODEL))
        assert "--evb-require-proof refuses it" in str(refused.value)
        assert not [call for call in stock.firmware.calls if call != "fetch"]


def test_own_firmware_passes_where_proof_is_required() -> None:
    with (
        pty_board(EchoValidator(OWN)) as own,
        attached(own.url, "auto", require_proof=True) as board,
    ):
        board.load(Image(MODEL))


@pytest.mark.parametrize("dialect", ["auto", "stock"])
def test_a_stock_board_that_waits_for_the_end_of_a_frame_is_a_clear_error(dialect: Dialect) -> None:
    """Whoever was here before was killed while it sent 4,000 bytes."""
    with stock_pty(StockFirmware(KWS)) as stock:
        with serial_for_url(stock.url) as port:
            port.write(struct.pack("<HH", 4000, 0) + bytes(100))
        with (
            attached(stock.url, dialect, timeout_s=0.5) as board,
            pytest.raises(BoardTimeout, match="no answer") as silent,
        ):
            board.load(Image(MODEL))
        assert "press its reset button" in str(silent.value)


def test_stock_firmware_answers_no_frame_of_ours() -> None:
    """And is then in the midst of one of its own: the reason to ask in its dialect first."""
    with (
        stock_pty(StockFirmware(KWS)) as stock,
        attached(stock.url, "own", timeout_s=0.3) as board,
        pytest.raises(BoardTimeout),
    ):
        board.load(Image(MODEL))
    assert stock.firmware.calls == []


def test_a_board_that_was_reset_is_set_up_again() -> None:
    firmware = StockFirmware(KWS)
    with stock_tcp(firmware) as stock, attached(stock.url, "stock") as board:
        board.load(Image(MODEL))
        firmware.start()
        board.load(Image(MODEL))
    assert sum(call.startswith("send 0") for call in firmware.calls) == 2


def test_a_link_may_take_over_an_open_port() -> None:
    with pty_board() as own:
        first = Link(own.url, board="evb")
        second = Link(own.url, board="evb", taken_from=first)
        assert second._port is first._port
        second.close()
