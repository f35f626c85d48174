"""Writes down what a board answers, as it goes."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_autodeploy.board.base import Placed
from pytest_autodeploy.board.recorded.context import Context, status_of
from pytest_autodeploy.board.recorded.notes import CALL, Answer, Full, Loaded, Note, write_note
from pytest_autodeploy.board.recorded.timings import TimeKeys, times_of
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.messages import Identity, Status
from pytest_autodeploy.rpc.wire import MessageCodec

if TYPE_CHECKING:
    from pytest_autodeploy.base.errors import AutodeployError
    from pytest_autodeploy.base.record_file import RecordWriter
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.calls import Call
    from pytest_autodeploy.rpc.client import ValidatorClient

_SHORT_ARGUMENTS = 16
_LOG_HEAD = 12
_FULL_ROOM = 256
_SESSION_AND_STATUS = 8
_PATH = re.compile(rb"(?<![\w/.-])(?:/|[A-Za-z]:\\)[^\s:;,'\"()\[\]]*[/\\][^\s:;,'\"()\[\]]*")


class Recorder:
    """Observes the calls of a board while it runs one model, and writes them to ``writer``.

    Of inputs only a hash is written. A call costs about 0.1 ms of this PC's time after its answer,
    and nothing of the board's.
    """

    def __init__(self, writer: RecordWriter, *, stateful: bool = False) -> None:
        self._writer = writer
        self._context = Context(stateful=stateful)
        self._began = time.monotonic()
        self._aside = False
        self._counts: Counter[bytes] = Counter()
        self._noted: set[Note] = set()
        self._clocks: dict[bytes, int] = {}
        self._client: ValidatorClient | None = None
        self.full = False

    def loaded(self, board: Board, image: Image, identity: Identity) -> None:
        """The board has loaded an image and said what it is: what it answers now is recorded."""
        placement = board.placement(image) if isinstance(board, Placed) else None
        note = Loaded(image.arena_bytes, image.roomy, placement)
        if note not in self._noted:
            self._noted.add(note)
            self.note(note)
        self._context.loaded(image.arena_bytes, image.roomy, identity.clock)
        if board.client is not self._client:  # which nobody has observed while it identified
            self._client = board.client
            said = _said(identity)
            self._clocks[said[:-_SESSION_AND_STATUS]] = identity.clock
            self.answered(calls.IDENTIFY, b"", said, time.monotonic())
        board.client.observe(self)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Calls within it are kept to be read, and answer nobody: what they led to is a note."""
        before, self._aside = self._aside, True
        try:
            yield
        finally:
            self._aside = before

    def note(self, note: Note) -> None:
        """Write what is known besides calls."""
        self._add(*write_note(note))

    def answered(self, call: Call, request: bytes, answer: bytes, began_s: float) -> None:
        """Write a call, and follow what it did to the board."""
        context, body = self._context, answer
        if call is calls.READ_LOG:
            body = _text_of(answer)
            if not body:
                return
        if call is calls.IDENTIFY and status_of(answer) is Status.OK:
            context.clock = self._clock_of(answer)
        key = context.key(call, request)
        self._write(call, key, request, body, began_s)
        context.answered(call, request, answer)
        if status_of(answer) is Status.OK:
            self._count(call, key, body)

    def gave_up(self, call: Call, request: bytes, error: AutodeployError) -> None:
        """Write that a call had no answer, and with which error."""
        key = self._context.key(call, request)
        name = type(error).__name__.encode()
        began_s = time.monotonic() - (error.seconds or 0)
        self._write(call, key, request, name, began_s, failed=True)

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._writer.close()

    def _clock_of(self, answer: bytes) -> int:
        """The clock mode that an identity says; equal ones but for the session are read once."""
        known = answer[:-_SESSION_AND_STATUS]
        if known not in self._clocks:
            self._clocks[known] = Identity.read(MessageCodec(answer)).clock
        return self._clocks[known]

    def _count(self, call: Call, key: bytes, body: bytes) -> None:
        """Number the answers of inferences, which later calls read of."""
        if call is calls.INVOKE:
            keys = TimeKeys.of(key)
            includes_first, ticks = times_of(body)
            for number in range(len(ticks)):
                key = keys.first if includes_first and number == 0 else keys.warm
                self._counts[key] += not self._aside
            self._context.inferred(key, max(0, self._counts[key] - 1), len(ticks))
        elif call in (calls.INFER, calls.PROFILE):
            profiled = call is calls.PROFILE
            self._counts[key] += not self._aside
            self._context.inferred(key, max(0, self._counts[key] - 1), profiled=profiled)

    def _write(
        self,
        call: Call,
        key: bytes,
        request: bytes,
        body: bytes,
        began_s: float,
        *,
        failed: bool = False,
    ) -> None:
        answer = Answer(
            call=call,
            key=key,
            instance=self._context.instance(call),
            arguments=request if len(request) <= _SHORT_ARGUMENTS and call.takes else b"",
            body=body,
            began_us=max(0, round(1e6 * (began_s - self._began))),
            took_us=max(0, round(1e6 * (time.monotonic() - began_s))),
            aside=self._aside,
            failed=failed,
        )
        self._add(CALL, answer.packed())

    def _add(self, kind: int, payload: bytes) -> None:
        if self.full:
            return
        if not self._writer.fits(len(payload) + _FULL_ROOM):
            self.full = True
            kind, payload = write_note(Full(self._writer.size))
        self._writer.add(kind, payload)


def _said(identity: Identity) -> bytes:
    """The answer that an identity came in."""
    codec = MessageCodec()
    identity.write(codec)
    codec.write_int32(Status.OK)
    return bytes(codec.buffer)


def _text_of(answer: bytes) -> bytes:
    """The text of a page of the log; a path of this PC, as in a message of a simulation, goes."""
    return _PATH.sub(b"<path>", answer[_LOG_HEAD:-4])
