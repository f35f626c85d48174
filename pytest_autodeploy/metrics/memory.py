"""Memory: the tensor arena and the model's file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.memory import DECLARATION
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, at_most, no_limit
from pytest_autodeploy.metrics.subject import Subject
from pytest_autodeploy.session.measured import MemoryUse, TunedArena


class Memory(Metric):
    """The memory that the model uses on the board."""

    declaration = DECLARATION

    def provide(self, subject: Subject) -> None:
        """Ask the board, and find the smallest arena in which the model runs."""
        if subject.board.measured.memory is None:
            subject.board.memory()
        if subject.board.measured.arena is None:
            subject.board.tune_arena()

    def measurements(self, subject: Subject) -> Iterator[Measurement]:
        """The arena used, given and tuned, and the model's file."""
        if subject.session is None:
            return
        memory, tuned = subject.session.measured.memory, subject.session.measured.arena
        if memory:
            yield _arena(memory)
            if given := memory.arena_given_bytes:  # firmware of others does not tell it
                yield Measurement("arena_given", given, "B", "neither", memory.source)
            yield _model(memory)
        if tuned:
            yield _tuned(tuned)

    def measured(self, subject: Subject, declared: Declared) -> bool:
        """Whether the test has asked the board, and tuned the arena where that is limited."""
        found = subject.board.measured
        return found.memory is not None and (
            declared.limit.arena_bytes is None or found.arena is not None
        )

    def measure(self, subject: Subject, declared: Declared) -> None:
        """Ask the board; the arena is searched only where it is limited, as that takes a while."""
        if subject.board.measured.memory is None:
            subject.board.memory()
        if declared.limit.arena_bytes is not None and subject.board.measured.arena is None:
            subject.board.tune_arena()

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """A row for each of arena and model that is limited.

        The arena is that in which the model runs: it does not run in what TFLM says it used.
        """
        memory, limit = subject.board.measured.memory, declared.limit
        tuned = subject.board.measured.arena
        assert memory is not None
        if limit.arena_bytes is not None:
            assert tuned is not None
            yield at_most(subject, declared, _tuned(tuned), limit.arena_bytes)
        if limit.model_bytes is not None:
            yield at_most(subject, declared, _model(memory), limit.model_bytes)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """The arena."""
        memory = subject.session.measured.memory if subject.session else None
        if memory is not None and not judged:
            yield no_limit(DECLARATION, _arena(memory))


def _arena(memory: MemoryUse) -> Measurement:
    used = memory.arena_used_bytes
    return Measurement("arena_used", used, "B", "lower", memory.source, memory.note)


def _tuned(tuned: TunedArena) -> Measurement:
    note = f"{tuned.tries} size{'s' * (tuned.tries != 1)} tried"
    if not tuned.exact:
        note += f", the search ended early: it did not run in {tuned.failed_bytes} bytes"
    return Measurement("arena_tuned", tuned.arena_bytes, "B", "lower", tuned.source, note)


def _model(memory: MemoryUse) -> Measurement:
    return Measurement("model_size", memory.model_bytes, "B", "lower", "exact")
