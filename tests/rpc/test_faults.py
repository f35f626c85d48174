"""A man in the middle breaks the link: the client repairs what it may, and says what it cannot."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardTimeout, LinkError
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES, frame
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.sim.loading import ModelStore
from tests.helpers.rpc_board import IDENTITY, Board, Tamper, pty_board, tcp_board


@pytest.fixture
def board() -> Iterator[Board]:
    with pty_board() as served:
        yield served


@pytest.fixture
def client(board: Board) -> Iterator[ValidatorClient]:
    client = ValidatorClient(Link(board.url, board="echo"), timeout_s=1.5)
    client.identify()
    yield client
    client.close()


def bad_body_crc(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def bad_header_crc(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


def truncated(data: bytes) -> bytes:
    return data[:-3]


def stray_text(data: bytes) -> bytes:
    return b"hello from printf\r\n" + data


def stray_zeros(data: bytes) -> bytes:
    return bytes(100) + data


def oversize(data: bytes) -> bytes:
    return frame(bytes(60_000)) + data


def silent(_data: bytes) -> bytes:
    return b""


def doubled(data: bytes) -> bytes:
    return data + data


def sequence_ahead(data: bytes) -> bytes:
    return changed(data, 4, 5)


def of_another_call(data: bytes) -> bytes:
    return changed(data, 1, 1)


def of_another_service(data: bytes) -> bytes:
    return changed(data, 2, 1)


def of_another_codec(data: bytes) -> bytes:
    return changed(data, 3, 1)


def no_reply(data: bytes) -> bytes:
    return changed(data, 0, -2)


def of_unknown_type(data: bytes) -> bytes:
    return changed(data, 0, 70)


def unknown_status(data: bytes) -> bytes:
    return changed(data, -4, 99)


def cut_in_a_good_frame(data: bytes) -> bytes:
    return frame(data[FRAME_HEADER_BYTES:-6] + bytes(4))


def head_only(data: bytes) -> bytes:
    return frame(data[FRAME_HEADER_BYTES : FRAME_HEADER_BYTES + 8])


def too_long(data: bytes) -> bytes:
    return frame(data[FRAME_HEADER_BYTES:-4] + bytes(8))


def absurd_length(data: bytes) -> bytes:
    return frame(data[FRAME_HEADER_BYTES : FRAME_HEADER_BYTES + 8] + b"\xff" * 4 + bytes(20))


def changed(data: bytes, position: int, by: int) -> bytes:
    body = bytearray(data[FRAME_HEADER_BYTES:])
    body[position] += by
    return frame(body)


REPLY_FAULTS = [
    bad_body_crc,
    bad_header_crc,
    truncated,
    stray_text,
    stray_zeros,
    oversize,
    silent,
    doubled,
    sequence_ahead,
    of_another_call,
    of_another_service,
    of_another_codec,
    no_reply,
    of_unknown_type,
    unknown_status,
    cut_in_a_good_frame,
    head_only,
    too_long,
    absurd_length,
]


@pytest.mark.parametrize("fault", REPLY_FAULTS)
def test_a_broken_reply_is_repaired(client: ValidatorClient, board: Board, fault: Tamper) -> None:
    board.middle.replies = [fault]
    assert client.describe_input(1).name == "in1"
    assert client.describe_input(0).name == "in0"


@pytest.mark.parametrize(
    "fault",
    [bad_body_crc, bad_header_crc, truncated, stray_text, stray_zeros, oversize, silent, doubled],
)
def test_a_broken_request_is_repaired(client: ValidatorClient, board: Board, fault: Tamper) -> None:
    board.middle.requests = [fault]
    assert client.describe_input(1).name == "in1"
    assert client.describe_input(0).name == "in0"


@pytest.mark.parametrize("fault", [bad_body_crc, silent, stray_text, doubled, sequence_ahead])
def test_a_transfer_goes_on_from_the_first_piece_without_an_answer(
    client: ValidatorClient, board: Board, fault: Tamper
) -> None:
    data = os.urandom(100_000)
    board.middle.replies = [bytes, bytes, fault]
    client.write_input(0, data)
    board.middle.replies = [bytes, bytes, fault]
    assert client.read_output(0, len(data)) == data


def test_a_transfer_survives_more_faults_than_one_call_may_have(
    client: ValidatorClient, board: Board
) -> None:
    data = os.urandom(100_000)
    board.middle.replies = [bytes, bad_body_crc] * 4
    client.write_input(0, data)
    assert bytes(board.validator.tensors[0]) == data


@pytest.mark.parametrize("fault", [bad_body_crc, silent])
@pytest.mark.parametrize("broken", ["requests", "replies"])
def test_a_model_that_loses_pieces_on_its_way_arrives_whole(
    client: ValidatorClient, board: Board, broken: str, fault: Tamper
) -> None:
    """The pieces behind a lost one are refused, as they would leave a gap, and come again."""
    model = os.urandom(100_000)
    sha256 = hashlib.sha256(model).digest()
    board.validator.store = ModelStore(len(model))
    client.begin_model(len(model), sha256)
    setattr(board.middle, broken, [bytes, fault, bytes, bytes, fault])
    client.write_model(model)
    assert not getattr(board.middle, broken)
    assert client.prove_model(len(model)) == sha256


def test_silence_names_the_call_the_board_and_the_seconds(
    client: ValidatorClient, board: Board
) -> None:
    board.middle.replies = [silent] * 3
    began = time.monotonic()
    with pytest.raises(BoardTimeout, match=r"^echo: configure: no answer after [\d.]+ s$") as error:
        client.configure()
    elapsed_s = time.monotonic() - began
    assert error.value.seconds is not None
    assert client.timeout_s <= error.value.seconds <= elapsed_s


def test_three_attempts_are_enough(client: ValidatorClient, board: Board) -> None:
    board.middle.replies = [bad_body_crc] * 3
    with pytest.raises(LinkError, match=r"describe_input: invalid message CRC.*\(attempt 3\)"):
        client.describe_input(0)
    assert client.describe_input(0).name == "in0"


@pytest.mark.parametrize(
    "fault", [bad_body_crc, sequence_ahead, stray_text, doubled, silent, truncated]
)
def test_an_invoke_is_asked_for_again_and_carried_out_once(
    client: ValidatorClient, board: Board, fault: Tamper
) -> None:
    board.middle.replies = [fault]
    assert client.invoke(1).includes_first
    assert board.validator.invocations == 1


def test_a_late_answer_is_not_taken_for_a_later_one(client: ValidatorClient, board: Board) -> None:
    kept: list[bytes] = []

    def held_back(data: bytes) -> bytes:
        kept.append(data)
        return b""

    board.middle.replies = [held_back, lambda data: kept[0] + data]
    with pytest.raises(BoardTimeout):
        client.invoke(1, timeout_s=0.1)
    assert client.invoke(2).ticks == (5, 5)


def test_answers_of_earlier_calls_do_not_hold_up_the_deadline(
    client: ValidatorClient, board: Board
) -> None:
    board.middle.replies = [lambda data: changed(data, 4, -1) * 5000] * 3
    with pytest.raises(BoardTimeout, match="describe_input: no answer"):
        client.describe_input(0)


def test_a_chattering_port_is_quoted_in_the_error(client: ValidatorClient, board: Board) -> None:
    board.middle.replies = [lambda _data: b"HardFault at 0x0", silent, silent]
    with pytest.raises(BoardTimeout, match=r"16 bytes that belong to no answer.*HardFault at 0x0"):
        client.invoke(1)


def test_an_endless_babble_ends_with_the_deadline(client: ValidatorClient, board: Board) -> None:
    stop = threading.Event()

    def babble() -> None:
        while not stop.is_set():
            board.middle.stream.write(b"all work and no play")
            stop.wait(0.01)

    board.middle.replies = [silent] * 9
    babbler = threading.Thread(target=babble)
    babbler.start()
    began = time.monotonic()
    try:
        with pytest.raises(BoardTimeout):
            client.identify()
    finally:
        stop.set()
        babbler.join()
    assert time.monotonic() - began < 3 * client.timeout_s


def test_wrong_numbers_of_results_are_a_broken_link(
    client: ValidatorClient, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board.validator, "read_output", lambda **_arguments: b"123")
    with pytest.raises(LinkError, match="3 bytes instead of 8"):
        client.read_output(1, 8)
    timing = dataclasses.replace(board.validator.invoke(2))
    monkeypatch.setattr(board.validator, "invoke", lambda **_arguments: timing)
    with pytest.raises(LinkError, match="2 times of 5 inferences"):
        client.invoke(5)


def test_a_pty_that_closes_is_a_board_that_died(client: ValidatorClient, board: Board) -> None:
    def gone(_data: bytes) -> bytes:
        board.hang_up()
        return b""

    board.middle.replies = [gone]
    with pytest.raises(BoardDied, match=r"echo: configure: the board went away"):
        client.configure()


def test_a_connection_that_closes_is_a_board_that_died() -> None:
    with tcp_board() as board:
        client = ValidatorClient(Link(board.url, board="echo"), timeout_s=10)
        assert client.identify() == IDENTITY

        def gone(data: bytes) -> bytes:
            board.hang_up()
            return data[:5]

        board.middle.replies = [gone]
        with pytest.raises(BoardDied, match=r"echo: configure: the board went away"):
            client.configure()
        client.close()


def test_a_board_that_takes_no_bytes_runs_into_the_deadline() -> None:
    with pty_board() as board:
        client = ValidatorClient(Link(board.url, board="echo"), timeout_s=1.5)
        client.identify()
        board.middle.requests = [lambda _data: b""] * 10_000
        with pytest.raises(BoardTimeout, match=r"echo: write_input: no answer"):
            client.write_input(0, bytes(100_000))
        client.close()
