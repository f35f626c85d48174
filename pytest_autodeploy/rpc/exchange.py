"""Requests numbered and sent ahead of their replies, failures of the link repaired."""

from __future__ import annotations

import logging
import secrets
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol

from erpc.client import ClientManager
from erpc.codec import CodecError, MessageInfo, MessageType

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.errors import AutodeployError, BoardDied, BoardTimeout, LinkError
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import (
    MESSAGE_HEAD_BYTES,
    SERVICE_ID,
    SESSION_NUMBERS,
    Status,
)
from pytest_autodeploy.rpc.wire import MessageCodec

LOG = logging.getLogger(__name__)

ATTEMPTS = 3
_DRAIN_S = 0.3
_STATUS_BYTES = 4
_SEQUENCE_BITS = 32


class Refusal(Exception):
    """The board's answer to ``call`` was a status other than ``OK``."""

    def __init__(self, call: Call, status: Status) -> None:
        super().__init__(f"{call.name}: {status.name}")
        self.call = call
        self.status = status


class Observer(Protocol):
    """Is told of each call that was answered, also with a no, and of each that was given up."""

    def answered(self, call: Call, request: bytes, answer: bytes, began_s: float) -> None:
        """Both are the bodies of messages behind their heads; ``began_s`` is of `time.monotonic`.

        It is called after the answer has come, and before anybody knows of it.
        """

    def gave_up(self, call: Call, request: bytes, error: AutodeployError) -> None:
        """The call had no answer, and is not repeated."""


class Exchange(ClientManager):  # type: ignore[misc]
    """The calls over one link.

    Until a session is open sequence numbers start anywhere, so that no old reply fits.
    """

    def __init__(self, link: Link) -> None:
        super().__init__(link, MessageCodec)
        self._link = link
        self.observer: Observer | None = None
        self.sent_again = 0
        """Requests that were sent more than once, as a failure of the link made it necessary."""
        self.end_session()

    @property
    def numbers_left(self) -> int:
        """How many requests the session has numbers for; 0 when none is open."""
        return 0 if self._end is None else self._end - self._sequence

    def open_session(self, session: int) -> None:
        """Numbers requests from ``session`` + 1 on."""
        self._sequence = session
        self._end: int | None = session + SESSION_NUMBERS - 1

    def end_session(self) -> None:
        """Numbers requests from anywhere on where no session is: those before `identify`."""
        self._sequence = secrets.randbelow((1 << (_SEQUENCE_BITS - 1)) - SESSION_NUMBERS)
        self._end = None

    def perform(
        self, call: Call, pieces: Sequence[tuple[Any, ...]], *, timeout_s: float, depth: int = 1
    ) -> Iterator[list[Any]]:
        """Makes a call once per piece, its arguments, and yields what each reply gives, in order.

        Up to ``depth`` requests are on their way at a time. After a failure of the link, a call
        that may be repeated goes on from the first piece without a reply, at most 3 times in a row
        and while ``timeout_s`` since the latest reply have not passed. With a ``depth`` of 1 a
        request is repeated with its number, so that the board does not carry it out again; with
        more, requests get new ones, because the board may have missed one of several. Raises
        `Refusal`, LinkError, BoardTimeout or BoardDied.
        """
        self._link.begin(call.name, timeout_s)
        board = self._link.board
        LOG.debug("%s: %s, requests: %d, deadline %g s", board, call.name, len(pieces), timeout_s)
        attempts = ATTEMPTS if call.repeatable else 1
        share_s = timeout_s / attempts if call.prompt else timeout_s
        deadline = time.monotonic() + timeout_s
        done = failures = 0
        again = False
        while done < len(pieces):
            reply_s = min(share_s, deadline - time.monotonic())
            try:
                for results in self._run_ahead(call, pieces[done:], depth, reply_s, again):
                    done += 1
                    failures = 0
                    again = False
                    deadline = time.monotonic() + timeout_s
                    yield results
            except (LinkError, BoardTimeout) as error:
                failures += 1
                LOG.debug("%s: %s failed, attempt %d: %s", board, call.name, failures, error.what)
                again = depth == 1
                # eRPC has no answer to a damaged frame, and takes what is left of one for the start
                # of the next: both sides have to have been quiet before a request is repeated.
                self._link.drain(max(deadline - time.monotonic(), _DRAIN_S))
                if failures == attempts or time.monotonic() >= deadline:
                    final = self._final(error, failures)
                    if self.observer is not None:
                        request = _request(call, pieces[done], 0)[MESSAGE_HEAD_BYTES:]
                        self.observer.gave_up(call, bytes(request), final)
                    raise final from error
                self.sent_again += min(depth, len(pieces) - done)

    def _final(self, error: AutodeployError, failures: int) -> AutodeployError:
        what = error.what if failures == 1 else f"{error.what} (attempt {failures})"
        seconds = self._link.elapsed_s
        return type(error)(what, board=error.board, seconds=seconds, hint=error.hint)

    def _run_ahead(
        self,
        call: Call,
        pieces: Sequence[tuple[Any, ...]],
        depth: int,
        reply_s: float,
        again: bool,
    ) -> Iterator[list[Any]]:
        waiting: deque[tuple[int, bytearray, float]] = deque()
        for arguments in pieces:
            if len(waiting) == depth:
                yield self._reply(call, *waiting.popleft(), reply_s)
            number = self._sequence if again else self.sequence
            again = False
            self._link.allow(reply_s)
            request = _request(call, arguments, number)
            waiting.append((number, request, time.monotonic()))
            try:
                self._link.send(request)
            except BoardDied:
                waiting.pop()
                yield from self._answered_before(call, waiting)
                raise
        while waiting:
            yield self._reply(call, *waiting.popleft(), reply_s)

    def _answered_before(
        self, call: Call, waiting: deque[tuple[int, bytearray, float]]
    ) -> Iterator[list[Any]]:
        """What a board that died had answered: the sample that it died of comes after that."""
        with suppress(LinkError, BoardTimeout, BoardDied):
            while waiting:
                yield self._reply(call, *waiting.popleft(), _DRAIN_S)

    def _reply(
        self, call: Call, sequence: int, request: bytearray, began_s: float, reply_s: float
    ) -> list[Any]:
        self._link.allow(reply_s)
        while True:
            body = self._link.receive()
            codec = MessageCodec(body)
            try:
                if not self._is_stale(codec.start_read_message(), call, sequence):
                    if trace.tracing():
                        trace.since(call.name, int(1e9 * began_s), board=self._link.board)
                    if self.observer is not None:
                        head = MESSAGE_HEAD_BYTES
                        bodies = bytes(request[head:]), bytes(body[head:])
                        self.observer.answered(call, *bodies, began_s)
                    return _results(call, codec, body)
            except (CodecError, ValueError) as error:
                raise self._link.failure(LinkError, f"malformed answer: {error}") from error

    def _is_stale(self, info: MessageInfo, call: Call, sequence: int) -> bool:
        if info.type is not MessageType.kReplyMessage:
            raise self._link.failure(LinkError, "the answer is no reply")
        if info.sequence != sequence:
            # An answer to an attempt that was given up, or to somebody else; ours may follow.
            if not _is_soon(info.sequence, sequence):
                return True
            raise self._link.failure(
                LinkError, f"the answer has sequence number {info.sequence} instead of {sequence}"
            )
        if (info.service, info.request) != (SERVICE_ID, call.id):
            raise self._link.failure(
                LinkError, f"answer of call {info.request} of service {info.service}"
            )
        return False


def _request(call: Call, arguments: tuple[Any, ...], number: int) -> bytearray:
    codec = MessageCodec()
    codec.start_write_message(
        MessageInfo(MessageType.kInvocationMessage, SERVICE_ID, call.id, number)
    )
    for wire, value in zip(call.takes.values(), arguments, strict=True):
        wire.write(codec, value)
    return bytearray(codec.buffer)


def _is_soon(number: int, after: int) -> bool:
    """Whether a number is one of the next; others are those of earlier requests, of anybody."""
    return (number - after) % (1 << _SEQUENCE_BITS) < SESSION_NUMBERS


def _results(call: Call, codec: MessageCodec, body: bytearray) -> list[Any]:
    if codec.remaining < _STATUS_BYTES:
        raise CodecError("the message ends early")
    # eRPC writes the results of a call before its return value. Those of a refusal need not be
    # there, so the status is looked at first.
    status = Status(int.from_bytes(body[-_STATUS_BYTES:], "little", signed=True))
    if status is not Status.OK:
        raise Refusal(call, status)
    results = [wire.read(codec) for wire in call.gives.values()]
    codec.read_int32()
    codec.end()
    return results
