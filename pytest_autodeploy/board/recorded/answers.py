"""The answers of a recording, by what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.record_file import RecordingError, read_records
from pytest_autodeploy.board.recorded.context import status_of
from pytest_autodeploy.board.recorded.notes import (
    CALL,
    Answer,
    ArenaGuess,
    Doubt,
    Full,
    Loaded,
    Metered,
    read_answer,
    read_note,
)
from pytest_autodeploy.board.recorded.timings import TimeKeys, times_of
from pytest_autodeploy.catalog.fit import Placement
from pytest_autodeploy.catalog.recording import HEAD, RecordingHead, parse_head
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.messages import Status

T = TypeVar("T")


class NotRecorded(AutodeployError):
    """A recording has no answer to a call: nobody asked the board that when it was made."""


@dataclass
class Entry:
    """An answer, and what the board logged from then to its next answer."""

    answer: Answer
    log: bytes = b""


@dataclass
class Pool(Generic[T]):
    """What inferences under the same conditions gave, in the order of the recording.

    They go round: behind the last comes the first again. Within one set-up of the model none is
    given twice, so that what was measured ten times never stands for more than that.
    """

    entries: list[T] = field(default_factory=list)
    _next: int = 0
    _taken: int = 0
    _set_up: int = -1

    def take(self, set_up: int) -> int | None:
        """The number of the next entry; None when a set-up has had all of them."""
        if set_up != self._set_up:
            self._set_up, self._taken = set_up, 0
        if self._taken >= len(self.entries):
            return None
        self._taken += 1
        number = self._next
        self._next = (number + 1) % len(self.entries)
        return number


@dataclass
class Answers:
    """All that a recording has, by key; calls that were made aside are left out."""

    head: RecordingHead
    times: dict[bytes, Pool[int]] = field(default_factory=dict)
    inferences: dict[bytes, Pool[Entry]] = field(default_factory=dict)
    others: dict[bytes, dict[int, list[Entry]]] = field(default_factory=dict)
    failures: dict[bytes, Answer] = field(default_factory=dict)
    placements: dict[tuple[int, bool], Placement | None] = field(default_factory=dict)
    doubts: dict[int, str] = field(default_factory=dict)
    guesses: list[int] = field(default_factory=list)
    metered: list[Metered] = field(default_factory=list)
    count: int = 0
    full: bool = False


def read_answers(path: Path) -> Answers:
    """The answers of a recording. Raises RecordingError, with the place in the file."""
    answers: Answers | None = None
    latest: Entry | None = None
    for number, record in enumerate(read_records(path)):
        try:
            if answers is None:
                if record.type != HEAD:
                    raise RecordingError("it does not say of which board it is")
                answers = Answers(parse_head(path, record.payload))
            elif record.type == CALL:
                latest = _add_call(answers, read_answer(record.payload), latest)
            else:
                _add_note(answers, record.type, record.payload)
        except RecordingError as error:
            raise RecordingError(f"{path}: record {number}: {error.what}") from None
    if answers is None:
        raise RecordingError(f"the recording {path} is empty")
    return answers


def _add_call(answers: Answers, answer: Answer, latest: Entry | None) -> Entry | None:
    """Add a call; what is read of the log belongs to the ``latest`` one before it."""
    answers.count += 1
    if answer.aside:
        return None
    if answer.call is calls.READ_LOG:
        if latest is not None:
            latest.log += answer.body
        return latest
    entry = Entry(answer)
    if answer.failed:
        answers.failures[answer.key] = answer
        return None
    good = status_of(answer.body) is Status.OK
    if answer.call is calls.INVOKE and good:
        keys = TimeKeys.of(answer.key)
        includes_first, ticks = times_of(answer.body)
        for number, time in enumerate(ticks):
            key = keys.first if includes_first and number == 0 else keys.warm
            answers.times.setdefault(key, Pool()).entries.append(time)
    elif answer.call in (calls.INFER, calls.PROFILE) and good:
        answers.inferences.setdefault(answer.key, Pool()).entries.append(entry)
    else:
        of_key = answers.others.setdefault(answer.key, {})
        of_key.setdefault(answer.instance, []).append(entry)
    return entry


def _add_note(answers: Answers, kind: int, payload: bytes) -> None:
    match read_note(kind, payload):
        case Loaded(arena_bytes, roomy, placement):
            answers.placements[arena_bytes, roomy] = placement
        case Doubt(mode, text):
            answers.doubts[mode] = text
        case ArenaGuess(guess):
            answers.guesses.append(guess)
        case Metered() as metered:
            answers.metered.append(metered)
        case Full():
            answers.full = True
