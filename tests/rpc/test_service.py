"""Every request gets an answer, and the log says why when it is no."""

from __future__ import annotations

import struct

import pytest

from pytest_autodeploy.rpc.calls import CALLS, CONFIGURE
from pytest_autodeploy.rpc.messages import ModelState, Status
from pytest_autodeploy.rpc.service import Log, dispatch
from tests.helpers.rpc_board import EchoValidator


class Answer:
    """A request as bytes, answered; what came back and what was logged."""

    def __init__(self, request: bytes, validator: EchoValidator | None = None) -> None:
        log = Log()
        self.reply = dispatch(request, validator or EchoValidator(), log)[6:]
        self.log = log.read(0, 1000)[1].decode()

    @property
    def status(self) -> Status:
        return Status(struct.unpack("<i", self.reply[-4:])[0])


def request(
    service: int, call: int, arguments: bytes = b"", *, kind: int = 0, codec: int = 1
) -> bytes:
    return struct.pack("<4BI", kind, call, service, codec, 77) + arguments


def test_the_reply_has_the_results_before_the_status() -> None:
    reply = Answer(request(1, CONFIGURE.id, struct.pack("<I", 5))).reply
    assert reply == bytes.fromhex("02 02 01 01 4d000000") + struct.pack(
        "<6Ii", 5, 1000, 2, 2, 3, 0, Status.OK
    )


def test_a_refusal_has_blank_results_for_generated_clients() -> None:
    answer = Answer(request(1, CONFIGURE.id, struct.pack("<I", 2_000_000)))
    assert answer.reply[8:] == bytes(24) + struct.pack("<i", Status.NO_MEMORY)
    assert answer.log == "configure: an arena of 2000000 bytes does not fit\n"


@pytest.mark.parametrize(("service", "call"), [(1, 99), (1, 0), (2, 1)])
def test_an_unknown_call_is_unsupported(service: int, call: int) -> None:
    answer = Answer(request(service, call))
    assert answer.status is Status.UNSUPPORTED
    assert answer.log == f"unknown call {call} of service {service}\n"


def test_another_codec_version_is_unsupported() -> None:
    assert Answer(request(1, 1, codec=2)).status is Status.UNSUPPORTED


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_what_is_no_request_gets_no_reply(kind: int) -> None:
    answer = Answer(request(1, 1, kind=kind))
    assert answer.reply == b""
    assert answer.log.startswith("not a request")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (2, b""),
        (2, bytes(3)),
        (2, bytes(5)),
        (5, struct.pack("<3I", 0, 0, 1000) + b"few"),
        (10, struct.pack("<i", 7)),
        (15, b""),
    ],
    ids=["none", "short", "long", "length", "enum", "no bool"],
)
def test_malformed_arguments_are_a_bad_argument(call: int, arguments: bytes) -> None:
    answer = Answer(request(1, call, arguments))
    assert answer.status is Status.BAD_ARGUMENT
    assert answer.log.startswith(f"{CALLS[call].name}: malformed arguments: ")


def test_a_bug_of_the_board_is_an_internal_error() -> None:
    class Broken(EchoValidator):
        def configure(self, arena_bytes: int) -> ModelState:
            return ModelState(arena_bytes // 0, 0, 0, 0, 0, 0)

    answer = Answer(request(1, CONFIGURE.id, bytes(4)), Broken())
    assert answer.status is Status.INTERNAL_ERROR
    assert answer.log == "configure: ZeroDivisionError: integer division or modulo by zero\n"


def test_a_result_that_does_not_fit_the_interface_is_an_internal_error() -> None:
    class Broken(EchoValidator):
        def configure(self, arena_bytes: int) -> ModelState:
            return ModelState(arena_bytes - 1, 0, 0, 0, 0, 0)

    assert Answer(request(1, 2, bytes(4)), Broken()).status is Status.INTERNAL_ERROR


def test_a_result_that_does_not_fit_a_message_is_refused() -> None:
    answer = Answer(request(1, 7, struct.pack("<3I", 0, 0, 70_000)))
    assert answer.status is Status.BAD_ARGUMENT
    assert "too long" in answer.log


def test_the_log_goes_on_from_a_cursor() -> None:
    log = Log()
    log.write("one")
    cursor, text = log.read(0, 100)
    assert text == b"one\n"
    log.write("two\n")
    assert log.read(cursor, 100) == (8, b"two\n")
    assert log.read(8, 100) == (8, b"")


def test_the_log_gives_no_more_than_asked_for() -> None:
    log = Log()
    log.write("12345")
    assert log.read(0, 4) == (4, b"1234")
    assert log.read(4, 4) == (6, b"5\n")


@pytest.mark.parametrize("cursor", [0, 1000], ids=["left the ring", "never was in it"])
def test_a_cursor_outside_the_ring_starts_at_its_oldest_byte(cursor: int) -> None:
    log = Log(capacity=10)
    for line in ("first", "second", "third"):
        log.write(line)
    assert log.read(cursor, 100) == (19, b"ond\nthird\n")
