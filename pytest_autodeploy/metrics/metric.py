"""The interface of a metric, and the words of a limit that a value may not pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.units import si
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.ledger import RED, Row, Status
from pytest_autodeploy.metrics.subject import Subject


class Metric(ABC):
    """What belongs to a declaration: how it is measured, and how a limit of it is judged.

    All methods may raise NotJudged, or another AutodeployError, which become a row; a BoardError
    of a board that broke ends the test.
    """

    declaration: Declaration
    """How limits on it are declared."""

    @abstractmethod
    def provide(self, subject: Subject, /) -> None:
        """Measure it, if it is not measured yet, as far as that takes no limit."""

    @abstractmethod
    def measured(self, subject: Subject, declared: Declared, /) -> bool:
        """Whether what the limit needs was measured."""

    @abstractmethod
    def rows(self, subject: Subject, declared: Declared, /) -> Iterable[Row]:
        """How the limit ended: a row for each of its bounds."""

    def measure(self, subject: Subject, _declared: Declared, /) -> None:
        """Measure what the limit needs."""
        self.provide(subject)

    def repeat(self, _subject: Subject, _name: str, _count: int, /, *, restarted: bool) -> bool:  # noqa: ARG002
        """Measure the measurement of that name so many times more; False where it cannot be.

        ``restarted``: the board has started anew since it was measured.
        """
        return False

    def measurements(self, _subject: Subject, /) -> Iterable[Measurement]:
        """What was measured, each value with its unit, direction and source."""
        return ()

    def unlimited(self, _subject: Subject, _judged: Sequence[Declared], /) -> Iterable[Row]:
        """Rows of what was measured and has no limit; ``judged`` are the limits that were."""
        return ()


def at_most(subject: Subject, declared: Declared, measurement: Measurement, bound: float) -> Row:
    """A value that may not be above ``bound``, in its unit."""
    value, limit = si(measurement.value, measurement.unit), si(bound, measurement.unit)
    if measurement.value <= bound:
        passed = row(declared, "pass", f"{value}, limit {limit}", measurement)
        return replace(passed, bound=bound)
    source = ", ".join(part for part in (measurement.source, measurement.note) if part)
    over = measurement.value - bound
    text = (
        f"{measurement.name.replace('_', ' ')} is over its limit\n"
        f"  limit   {limit}\n"
        f"  value   {value} ({source})\n"
        f"  over    {si(over, measurement.unit)} ({100 * over / bound:.1f} %)"
    )
    failed = row(declared, "FAIL", failure_block(declared, subject, text), measurement)
    return replace(failed, bound=bound)


def row(
    declared: Declared,
    status: Status,
    text: str,
    measurement: Measurement | None = None,
    failure: FailureClass = "over a limit",
) -> Row:
    """A row of the limit; only a red one has a class of failure."""
    failed = failure if status in RED else None
    return Row(declared.name, declared.text, declared.origin, status, text, measurement, failed)


def no_limit(declaration: Declaration, measurement: Measurement, limit: str = "") -> Row:
    """What is told of a measurement without a limit."""
    text = f"{si(measurement.value, measurement.unit)}, no limit"
    return Row(declaration.name, limit or declaration.name, "none", "no limit", text, measurement)


def not_judged(declared: Declared, title: str, reason: str) -> Row:
    """A limit that could not be judged."""
    text = f"{declared.text} could not be judged\n  declared by {declared.origin}\n  {reason}"
    return row(declared, "NOT JUDGED", f"{title}: {text}", failure="not judged")


def failure_block(declared: Declared, subject: Subject, text: str) -> str:
    """The words of a failure: model, board and the first line of ``text``, the limit, the rest."""
    first, _, rest = text.partition("\n")
    return (
        f"{subject.title}: {first}\n  declared {declared.text} by {declared.origin}\n{rest}"
    ).rstrip()
