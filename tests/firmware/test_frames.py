"""The firmware's RPC server, compiled for this PC, finds the good frames and answers each."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.rpc.calls import CALLS, Call
from pytest_autodeploy.rpc.framing import frame
from pytest_autodeploy.rpc.messages import PROTOCOL_VERSION, BoardKind, Identity, Status
from pytest_autodeploy.rpc.service import Log, Refused, dispatch
from pytest_autodeploy.rpc.wire import MessageCodec
from tests.helpers.firmware_support import (
    Wire,
    host_build,
    host_wire,
    needs_host_build,
    request,
    status_of,
    words,
)

pytestmark = needs_host_build
IDENTIFY, CONFIGURE, WRITE_INPUT, READ_LOG, REBOOT = 1, 2, 5, 9, 12
MAX_MESSAGE_BYTES = 512
SILENCE_S = 0.15


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Path:
    return host_build(pytestconfig, "firmware") / "autodeploy"


@pytest.fixture
def board(program: Path) -> Iterator[Wire]:
    with host_wire(program) as wire:
        yield wire


def is_identity(reply: bytes, sequence: int) -> bool:
    return reply[4:8] == words(sequence) and status_of(reply) == Status.OK


def log_of(board: Wire) -> str:
    reply = board.ask(READ_LOG, words(0))
    return reply[20:-4].decode()


def identify(sequence: int) -> bytes:
    return frame(request(IDENTIFY, words(PROTOCOL_VERSION), sequence))


def test_the_python_codec_reads_the_identity(board: Wire) -> None:
    reply = board.ask(IDENTIFY)
    codec = MessageCodec(reply)
    codec.start_read_message()
    identity = Identity.read(codec)
    assert identity.kind is BoardKind.SIMULATED
    assert (identity.board, identity.build_id, identity.engine) == ("host", "small", "echo")
    assert identity.model_sha256 == b"small".ljust(32, b"\0")
    assert (identity.max_message_bytes, identity.window_bytes) == (MAX_MESSAGE_BYTES, 1100)
    assert identity.max_invocations == (MAX_MESSAGE_BYTES - 25) // 8
    assert codec.read_int32() == Status.OK
    codec.end()


def test_stray_bytes_before_a_request_are_dropped(board: Wire) -> None:
    stray = random.Random(7).randbytes(3000)
    board.send(stray + identify(7))
    assert is_identity(board.reply(), 7)


def test_a_request_with_a_wrong_crc_is_dropped_and_the_next_answered(board: Wire) -> None:
    damaged = bytearray(identify(1))
    damaged[-1] ^= 1
    board.send(bytes(damaged) + identify(2))
    assert is_identity(board.reply(), 2)


def test_a_frame_that_is_too_long_is_skipped_whole(board: Wire) -> None:
    inner = identify(1)
    board.send(frame(inner.ljust(MAX_MESSAGE_BYTES + 1, b"\0")) + identify(2))
    assert is_identity(board.reply(), 2)


def test_a_truncated_request_is_forgotten_after_a_silence(board: Wire) -> None:
    board.send(frame(request(WRITE_INPUT, bytes(300)))[:100])
    assert board.is_quiet(SILENCE_S)
    board.send(identify(3))
    assert is_identity(board.reply(), 3)


def test_what_a_broken_frame_swallowed_is_answered_after_a_silence(board: Wire) -> None:
    board.send(frame(request(WRITE_INPUT, bytes(300)))[:100] + identify(4))
    assert is_identity(board.reply(), 4)


def test_a_request_may_arrive_in_pieces(board: Wire) -> None:
    whole = identify(5)
    for byte in whole:
        board.send(bytes([byte]))
    assert is_identity(board.reply(), 5)


def test_requests_that_fill_the_window_are_answered_in_order(board: Wire) -> None:
    count = 1100 // len(identify(0))
    board.send(b"".join(identify(sequence) for sequence in range(count)))
    for sequence in range(count):
        assert is_identity(board.reply(), sequence)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(request(99), "unknown call 99 of service 1", id="call"),
        pytest.param(request(1, service=3), "unknown call 1 of service 3", id="service"),
        pytest.param(words(2 << 24 | 1 << 16 | 1 << 8, 1), "codec version 2", id="version"),
        pytest.param(words(1 << 24 | 1 << 16 | 1 << 8 | 9, 1), "type 9", id="type"),
    ],
)
def test_an_unknown_request_is_unsupported(board: Wire, body: bytes, said: str) -> None:
    board.send(frame(body))
    assert board.reply()[8:] == words(Status.UNSUPPORTED)
    assert said in log_of(board)


def test_a_reply_is_no_request(board: Wire) -> None:
    board.send(frame(words(1 << 24 | 1 << 16 | 1 << 8 | 2, 1)) + identify(8))
    assert is_identity(board.reply(), 8)


class Refusing:
    """A validator in Python that refuses everything."""

    def __getattr__(self, name: str) -> object:
        def refuse(**arguments: object) -> None:
            raise Refused(Status.BAD_ARGUMENT, "no")

        return refuse


@pytest.mark.parametrize("call", CALLS.values(), ids=lambda call: call.name)
def test_malformed_arguments_are_refused_as_in_python(board: Wire, call: Call) -> None:
    body = request(call.id, bytes(99), sequence=77)
    board.send(frame(body))
    refusing: Any = Refusing()
    assert frame(board.reply()) == dispatch(body, refusing, Log())
    assert f"{call.name}: malformed arguments\n" in log_of(board)


def test_a_length_beyond_the_message_is_refused(board: Wire) -> None:
    board.ask(CONFIGURE, words(0))
    reply = board.ask(WRITE_INPUT, words(0, 0, 0xFFFFFFFF) + b"abc", sequence=2)
    assert status_of(reply) == Status.BAD_ARGUMENT


@pytest.mark.parametrize("mode", [2, 0xFFFFFFFF])
def test_a_clock_mode_that_does_not_exist_is_refused(board: Wire, mode: int) -> None:
    assert status_of(board.ask(10, words(mode))) == Status.BAD_ARGUMENT


def test_the_log_pages_by_cursor(board: Wire) -> None:
    for _ in range(60):
        board.ask(99)
    text, cursor = b"", 0
    for _ in range(10):
        reply = board.ask(READ_LOG, words(cursor))
        end, cursor, length = struct.unpack_from("<III", reply, 8)
        text += reply[20 : 20 + length]
        assert cursor <= end == 60 * len(b"unknown call 99 of service 1\n")
        if not length:
            break
    assert len(text) == 1000, "the ring of the small build"
    assert text.endswith(b"unknown call 99 of service 1\n")
    assert status_of(board.ask(READ_LOG, words(cursor + 1))) == Status.OK


def test_a_reboot_is_answered_before_it_happens(board: Wire) -> None:
    board.ask(99)
    assert board.ask(REBOOT) == words(1 << 24 | 1 << 16 | REBOOT << 8 | 2, 1, Status.OK)
    assert is_identity(board.ask(IDENTIFY, words(PROTOCOL_VERSION), sequence=9), 9)
    assert log_of(board) == ""


def test_a_host_of_version_1_hears_the_version_first(board: Wire) -> None:
    reply = board.ask(IDENTIFY)
    assert reply[8:12] == words(PROTOCOL_VERSION)
    assert status_of(reply) == Status.OK
    assert "the host speaks version 1 of the protocol, this firmware 2" in log_of(board)
