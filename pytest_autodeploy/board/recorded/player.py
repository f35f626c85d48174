"""Answers the calls of a client from a recording."""

from __future__ import annotations

import struct
from collections import Counter

from erpc.codec import CodecError

from pytest_autodeploy.base.errors import AutodeployError, BoardDied, BoardTimeout, LinkError
from pytest_autodeploy.base.record_file import RecordingError
from pytest_autodeploy.board.recorded.answers import Answers, Entry, NotRecorded
from pytest_autodeploy.board.recorded.context import Context, status_of
from pytest_autodeploy.board.recorded.timings import TimeKeys, timing_answer
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.messages import ClockMode, Identity, OtherProtocol, Status
from pytest_autodeploy.rpc.wire import MessageCodec

_OK = struct.pack("<i", Status.OK)
_PAGE = 4096
_FAILURES: dict[bytes, type[AutodeployError]] = {
    b"BoardDied": BoardDied,
    b"BoardTimeout": BoardTimeout,
    b"LinkError": LinkError,
}

_HINT = (
    "only what the board was asked when it was recorded has an answer: leave the option or the "
    "test out that asks for more, or record it anew with them"
)


class Player:
    """Follows the calls of a client, and gives each the answer of the same call of the recording.

    Of equal calls that gave different answers, those of inferences go round (`Pool`); of others
    the last one stays. A call that only sets something is obeyed unless the board had refused it.
    """

    def __init__(self, answers: Answers, board: str, *, stateful: bool = False) -> None:
        self._answers = answers
        self._board = board
        self._context = Context(clock=self._first_clock(), stateful=stateful)
        self._set_ups = 0
        self._given: Counter[tuple[bytes, int]] = Counter()
        self._log = bytearray()

    def loaded(self, arena_bytes: int, roomy: bool) -> None:
        """An image is loaded. Raises NotRecorded when that one never was."""
        if (arena_bytes, roomy) not in self._answers.placements:
            arena = f"an arena of {arena_bytes} bytes" if arena_bytes else "the largest arena"
            raise self._not_recorded(f"the model was not loaded with {arena}")
        self._context.loaded(arena_bytes, roomy, self._context.clock)

    def answer(self, call: Call, request: bytes) -> bytes:
        """The answer to a call, as a body of a message. Raises NotRecorded, or what it ended in."""
        if call is calls.READ_LOG:
            return self._log_page(request)
        key = self._context.key(call, request)
        if call is calls.INVOKE:
            answer = self._times(key, request)
        elif call in (calls.INFER, calls.PROFILE):
            answer = self._inference(call, key, request)
        else:
            answer = self._other(call, key)
        self._context.answered(call, request, answer)
        if call is calls.CONFIGURE:
            self._set_ups += 1
        elif call is calls.REBOOT:
            self._context.clock = self._first_clock()
            self._log.clear()
        return answer

    def _times(self, key: bytes, request: bytes) -> bytes:
        (count,) = struct.unpack("<I", request)
        keys, pools = TimeKeys.of(key), self._answers.times
        includes_first = not self._context.ran
        ticks: list[int] = []
        place = (key, 0)
        while len(ticks) < count:
            at = keys.first if includes_first and not ticks else keys.warm
            pool = pools.get(at)
            number = pool.take(self._set_ups) if pool else None
            if pool is None or number is None:
                if not ticks and (refused := self._refusal(key)):
                    return refused
                had = len(pool.entries) if pool else 0
                raise self._not_recorded(f"invoke: {_times_text(had, first=at == keys.first)}")
            ticks.append(pool.entries[number])
            place = (at, number)
        self._context.inferred(*place, count)
        return timing_answer(includes_first, tuple(ticks))

    def _inference(self, call: Call, key: bytes, request: bytes) -> bytes:
        pool = self._answers.inferences.get(key)
        number = pool.take(self._set_ups) if pool else None
        if pool is None or number is None:
            if refused := self._refusal(key):
                return refused
            had = len(pool.entries) if pool else 0
            what = f"only {had} like this were recorded" if had else "not with these inputs"
            raise self._not_recorded(f"{call.name}: {what}")
        body = self._give(pool.entries[number])
        self._context.answered(call, request, body)  # its inputs are a part of the history
        self._context.inferred(key, number, profiled=call is calls.PROFILE)
        return body

    def _other(self, call: Call, key: bytes) -> bytes:
        instance = self._context.instance(call)
        of_key = self._answers.others.get(key, {})
        entries = of_key.get(instance) or _agreed(of_key)
        if entries:
            number = self._given[key, instance]
            self._given[key, instance] += 1
            return self._give(entries[min(number, len(entries) - 1)])
        self._raise_ended(key)
        if not call.gives:
            return _OK
        raise self._not_recorded(f"{call.name}: not recorded {self._where()}")

    def _refusal(self, key: bytes) -> bytes | None:
        """The no of the board to a call that never had another answer. Raises as `_raise_ended`."""
        self._raise_ended(key)
        of_key = self._answers.others.get(key, {})
        return self._give(of_key[0][-1]) if 0 in of_key else None

    def _raise_ended(self, key: bytes) -> None:
        """Raise what a call ended in that had no answer."""
        if failure := self._answers.failures.get(key):
            kind = _FAILURES.get(failure.body, LinkError)
            raise kind(f"{failure.call.name}: so it ended at the recording", board=self._board)

    def _give(self, entry: Entry) -> bytes:
        self._log += entry.log
        return entry.answer.body

    def _log_page(self, request: bytes) -> bytes:
        (cursor,) = struct.unpack("<I", request)
        text = bytes(self._log[cursor : cursor + _PAGE])
        after = min(cursor, len(self._log)) + len(text)
        return struct.pack("<III", len(self._log), after, len(text)) + text + _OK

    def _first_clock(self) -> int:
        """The clock mode that the board started in, as far as it was asked."""
        for of_key in self._answers.others.values():
            entry = next(iter(of_key.values()))[0]
            body = entry.answer.body
            if entry.answer.call is calls.IDENTIFY and status_of(body) is Status.OK:
                try:
                    return Identity.read(MessageCodec(body)).clock
                except (CodecError, OtherProtocol) as error:
                    raise RecordingError(f"a recorded identity cannot be read: {error}") from None
        return ClockMode.HIGH_PERFORMANCE

    def _where(self) -> str:
        return f"at {'HP' if self._context.clock else 'LP'}"

    def _not_recorded(self, what: str) -> NotRecorded:
        full = "; the recording reached its bound before the end" if self._answers.full else ""
        return NotRecorded(f"{what}{full}", board=self._board, hint=_HINT)


def _times_text(had: int, *, first: bool) -> str:
    which = "first " if first else ""
    if not had:
        return f"no times of {which}inferences with these inputs and settings were recorded"
    return f"only {had} times of {which}inferences like these were recorded"


def _agreed(of_key: dict[int, list[Entry]]) -> list[Entry]:
    """What was read of other such inferences, where all of them gave the same."""
    entries = [entry for each in of_key.values() for entry in each]
    return entries[:1] if len({entry.answer.body for entry in entries}) == 1 else []
