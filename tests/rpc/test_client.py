"""The client speaks with a real board over a pty, TCP and RFC 2217."""

from __future__ import annotations

import dataclasses
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
import serial
from serial.rfc2217 import PortManager

from pytest_autodeploy.base.errors import BoardDied, BoardRefused, WrongFirmware
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import ClockMode, LayerRecord, ModelState
from tests.helpers.rpc_board import IDENTITY, Board, EchoValidator, pty_board, tcp_board


@pytest.fixture
def board() -> Iterator[Board]:
    with pty_board() as served:
        yield served


@pytest.fixture
def client(board: Board) -> Iterator[ValidatorClient]:
    client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
    yield client
    client.close()


def test_identify_gives_what_the_board_says(client: ValidatorClient) -> None:
    assert client.identify() == IDENTITY


def test_configure_gives_the_arena(client: ValidatorClient) -> None:
    assert client.configure(5000) == ModelState(5000, 1000, 2, 2, 3, 0)


def test_tensors_are_described(client: ValidatorClient) -> None:
    assert client.describe_input(1).name == "in1"
    output = client.describe_output(0)
    assert (output.dtype, output.shape, output.scale) == ("int8", (1, 100_000), 0.25)


def test_a_tensor_larger_than_a_message_arrives_whole(
    client: ValidatorClient, board: Board
) -> None:
    data = os.urandom(100_000)
    client.write_input(0, data)
    assert client.read_output(0, len(data)) == data


def test_a_tensor_larger_than_the_window_arrives_whole() -> None:
    small = dataclasses.replace(IDENTITY, max_message_bytes=256, window_bytes=262)
    data = os.urandom(10_001)
    with pty_board(EchoValidator(small)) as board:
        client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
        client.write_input(0, data)
        assert client.read_output(0, len(data)) == data
        client.close()


def test_progress_is_told_piece_by_piece(client: ValidatorClient) -> None:
    written: list[tuple[int, int]] = []
    client.write_input(0, bytes(40_000), on_progress=lambda *step: written.append(step))
    assert written[-1] == (40_000, 40_000)
    assert len(written) > 1


def test_unanswered_requests_stay_within_the_window(board: Board) -> None:
    identity = dataclasses.replace(IDENTITY, max_message_bytes=1000, window_bytes=4000)
    board.validator.identity = identity
    held: list[int] = []
    unanswered = bytearray()

    def arrive(data: bytes) -> bytes:
        unanswered.extend(data)
        held.append(len(unanswered))
        return data

    def answer(data: bytes) -> bytes:
        del unanswered[: 6 + int.from_bytes(unanswered[2:4], "little")]
        return data

    board.middle.requests = [arrive] * 1000
    board.middle.replies = [answer] * 1000
    client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
    client.write_input(0, bytes(50_000))
    client.close()
    assert 1000 < max(held) <= 4000


def test_invoke_gives_a_time_per_inference(client: ValidatorClient) -> None:
    timing = client.invoke(3)
    assert (timing.total_ticks, timing.includes_first, timing.ticks) == (15, True, (5, 5, 5))


def test_a_kept_tensor_larger_than_a_message_arrives_whole(
    client: ValidatorClient, board: Board
) -> None:
    data = os.urandom(100_000)
    client.write_input(0, data)
    client.keep_tensors(True)
    told: list[tuple[int, int]] = []
    assert client.read_tensor(0, len(data), lambda *step: told.append(step)) == data
    assert (told[-1], len(told) > 1) == ((100_000, 100_000), True)
    assert client.describe_tensor(1).name == "tensor1"


def test_a_tensor_that_is_not_kept_is_refused_in_words(client: ValidatorClient) -> None:
    client.keep_tensors(True)
    client.keep_tensors(False)
    with pytest.raises(BoardRefused, match="read_tensor: tensors are not kept"):
        client.read_tensor(0, 100_000)
    assert client.identify() == IDENTITY


def test_layers_come_in_pages_and_whole() -> None:
    small = dataclasses.replace(IDENTITY, max_message_bytes=256)
    with pty_board(EchoValidator(small, layers=40)) as board:
        client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
        records = client.read_layers()
        client.close()
    assert records == [LayerRecord(f"LAYER_{index}", index, (index,)) for index in range(40)]


def test_the_log_is_read_once(client: ValidatorClient, board: Board) -> None:
    board.log.write("booted")
    assert client.read_log() == "booted\n"
    board.log.write("größer")
    assert client.read_log() == "größer\n"
    assert client.read_log() == ""


def test_a_long_log_is_read_whole(board: Board) -> None:
    board.validator.identity = dataclasses.replace(IDENTITY, max_message_bytes=256)
    lines = [f"line {number}" for number in range(200)]
    for line in lines:
        board.log.write(line)
    client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
    assert client.read_log().splitlines() == lines
    client.close()


def test_a_refusal_carries_the_words_of_the_board(client: ValidatorClient, board: Board) -> None:
    for number in range(20):
        board.log.write(f"earlier {number}")
    with pytest.raises(BoardRefused) as refused:
        client.configure(2_000_000)
    assert refused.value.status == "NO_MEMORY"
    assert refused.value.text.endswith("configure: an arena of 2000000 bytes does not fit")
    assert str(refused.value).startswith("echo: configure: refused (no memory): ")
    assert client.read_log().startswith("earlier 0\n")


def test_the_board_is_usable_after_a_refusal(client: ValidatorClient) -> None:
    with pytest.raises(BoardRefused, match=r"there is no tensor 7"):
        client.write_input(7, bytes(100_000))
    with pytest.raises(BoardRefused, match=r"unsupported.*no LOW_POWER mode"):
        client.set_clock(ClockMode.LOW_POWER)
    client.reset_state()
    assert client.configure().layers == 3


def test_calls_go_on_after_a_reboot(client: ValidatorClient, board: Board) -> None:
    board.log.write("before")
    client.read_log()
    client.reboot()
    board.log.write("after")
    assert client.identify() == IDENTITY
    assert client.read_log().endswith("after\n")


@pytest.mark.parametrize(
    ("version", "advice"), [(3, "update pytest-autodeploy"), (0, "newer firmware")]
)
def test_another_protocol_version_says_what_to_update(
    client: ValidatorClient, board: Board, version: int, advice: str
) -> None:
    board.validator.identity = dataclasses.replace(IDENTITY, protocol_version=version)
    with pytest.raises(WrongFirmware, match=rf"(?s)version {version} .*{advice}"):
        client.identify()


@pytest.mark.parametrize("sizes", [(0, 1000), (70_000, 100_000), (4096, 100)])
def test_absurd_sizes_of_a_board_are_refused(
    client: ValidatorClient, board: Board, sizes: tuple[int, int]
) -> None:
    message, window = sizes
    board.validator.identity = dataclasses.replace(
        IDENTITY, max_message_bytes=message, window_bytes=window
    )
    with pytest.raises(WrongFirmware, match=rf"messages of \d+ bytes and a window of {window}"):
        client.identify()


def test_a_board_is_reached_over_tcp() -> None:
    data = os.urandom(60_000)
    with tcp_board() as board:
        client = ValidatorClient(Link(board.url, board="echo"), timeout_s=5)
        client.write_input(0, data)
        assert client.read_output(0, len(data)) == data
        client.close()


class _PortWithModemLines(serial.Serial):  # type: ignore[misc]
    """A pty has none."""

    cts = dsr = ri = cd = True

    def _update_dtr_state(self) -> None:
        pass

    def _update_rts_state(self) -> None:
        pass


class _Rfc2217Server:
    """Gives a serial port to one host over RFC 2217, with pySerial's own server side."""

    def __init__(self, port: str) -> None:
        self._serial = _PortWithModemLines(port, timeout=0.02, exclusive=False)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rfc2217://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)

    def _run(self) -> None:
        self._connection, _ = self._listener.accept()
        manager = PortManager(self._serial, self)
        sender = threading.Thread(target=self._to_host, args=(manager,), daemon=True)
        sender.start()
        while data := self._connection.recv(4096):
            self._serial.write(b"".join(manager.filter(data)))
        self._serial.close()
        sender.join()
        self._connection.close()
        self._listener.close()

    def _to_host(self, manager: PortManager) -> None:
        with suppress(serial.SerialException, TypeError, OSError):
            while True:
                self.write(b"".join(manager.escape(self._serial.read(4096))))

    def join(self) -> None:
        self._thread.join()


def test_a_board_is_reached_over_rfc2217(board: Board) -> None:
    server = _Rfc2217Server(board.url)
    client = ValidatorClient(Link(server.url, board="echo"), timeout_s=5)
    assert client.identify() == IDENTITY
    data = bytes(range(256)) * 20
    client.write_input(0, data)
    assert client.read_output(0, len(data)) == data
    client.close()
    server.join()


def test_what_a_board_answered_before_it_died_is_given(
    board: Board, client: ValidatorClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only writing tells of the death: the answers that are on their way can be read."""
    board.validator.tensors = [bytearray(8), bytearray(8)]
    client.identify()
    send, sent = client.link.send, []

    def dying(message: bytes) -> None:
        sent.append(message)
        if len(sent) == 4:
            raise client.link.failure(BoardDied, "the board went away")
        send(message)

    monkeypatch.setattr(client.link, "send", dying)
    samples = [[os.urandom(8), os.urandom(8)] for _ in range(6)]
    given: list[tuple[bytes, ...]] = []
    with pytest.raises(BoardDied, match="infer: the board went away"):
        given += (each.outputs for each in client.infer_each(samples, [8, 8], overlap=True))
    assert [list(outputs) for outputs in given] == samples[:3]
