"""The stock dialect against neuralSPOT's own eRPC 1.9.1 and service code, of a checkout."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from serial import serial_for_url

from pytest_autodeploy.base.errors import BoardTimeout
from pytest_autodeploy.board.dialect import connect, expect
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.framing import frame
from pytest_autodeploy.rpc.stock_client import StockClient
from tests.helpers.once import made_once
from tests.helpers.stock_board import StockBoard
from tests.helpers.stock_erpc import build_server, erpc_pty, needs_neuralspot
from tests.helpers.stock_firmware import StockFirmware, Version
from tests.helpers.support import KWS
from tests.helpers.tflite_builder import relu_chain

pytestmark = needs_neuralspot


@pytest.fixture(scope="module")
def server(run_folder: Path) -> Path:
    return made_once(run_folder, "stock-erpc", build_server) / "server"


@contextmanager
def connected(board: StockBoard, timeout_s: float = 10.0) -> Iterator[StockClient]:
    client = connect(board.url, "evb", board_spec("apollo4p_evb"), "auto", timeout_s)
    try:
        assert isinstance(client, StockClient)
        yield client
    finally:
        client.close()


@pytest.mark.parametrize("version", [2023, 2024, 2026])
def test_auto_finds_it_and_outputs_and_layers_arrive(server: Path, version: Version) -> None:
    firmware, model = StockFirmware(KWS, version), load_model(KWS)
    sample = np.arange(490, dtype=np.int16).astype(np.int8).tobytes()
    with erpc_pty(firmware, server) as board, connected(board) as client:
        client.prove(expect(model))
        (found,) = client.infer([sample], [12]).outputs
        layers = [layer.tag for layer in client.read_layers()]
    assert found == firmware.compute(0, sample).data
    assert layers == [operator.name for operator in model.operators]


def test_pieces_of_inputs_outputs_and_statistics_arrive(server: Path, tmp_path: Path) -> None:
    path = tmp_path / "chain.tflite"
    path.write_bytes(relu_chain(layers=40, size=2000))
    values = np.linspace(-1, 1, 2000, dtype=np.float32)
    with erpc_pty(StockFirmware(path), server) as board, connected(board) as client:
        client.prove(expect(load_model(path)))
        (found,) = client.infer([values.tobytes()], [8000]).outputs
        assert len(client.read_layers()) == 40
    assert (np.frombuffer(found, np.float32) == np.maximum(values, 0)).all()


@pytest.mark.parametrize("sent", [struct.pack("<HH", 4000, 0), frame(bytes(20))])
def test_a_part_of_a_frame_or_one_of_ours_wedges_it(server: Path, sent: bytes) -> None:
    """Which is why ``auto`` asks in their dialect first, and a reset is the advice."""
    with erpc_pty(StockFirmware(KWS), server) as board:
        with serial_for_url(board.url) as port:
            port.write(sent)
        client = _stock(board)
        with pytest.raises(BoardTimeout, match="stock fetch: no answer"):
            client.prove(expect(load_model(KWS)))
        client.close()
    assert board.firmware.calls == []


def _stock(board: StockBoard) -> StockClient:
    client = connect(board.url, "evb", board_spec("apollo4p_evb"), "stock", 0.5)
    assert isinstance(client, StockClient)
    return client
