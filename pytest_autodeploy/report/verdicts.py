"""The verdicts of a record or result, ready to be shown; nothing else reads verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import lines, one_line
from pytest_autodeploy.base.units import si

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.ledger import Row
    from pytest_autodeploy.metrics.result import Recorded

COMPARED = ("regression", "not comparable")
"""Failures whose tables are shown on their own."""


@dataclass(frozen=True)
class VerdictRow:
    """One limit and the value that it was held against.

    ``outcome`` is ``pass``, ``FAIL``, ``NOT JUDGED``, or ``no limit``. ``metric`` is what was held
    against it. ``test`` is the id of the first test that did so, in a result.
    """

    limit: str
    value: str
    source: str
    outcome: str
    origin: str
    text: str
    metric: str = ""
    test: str = field(default="", compare=False)


def verdict_rows(result: Recorded) -> list[VerdictRow]:
    """All verdicts, those that tests repeat only once.

    A limit on more than one value is followed by the name of each.
    """
    verdicts = result.verdicts
    values = {(verdict.limit, name) for verdict in verdicts if (name := _name(verdict))}
    several = {limit for limit, count in Counter(limit for limit, _ in values).items() if count > 1}
    rows = (_row(verdict, named=verdict.limit in several) for verdict in verdicts)
    return list(dict.fromkeys(rows))


def _name(verdict: Row) -> str:
    return verdict.measurement.name.replace("_", " ") if verdict.measurement else ""


def _row(verdict: Row, *, named: bool) -> VerdictRow:
    measurement, compared = verdict.measurement, verdict.failure in COMPARED
    name = f": {_name(verdict)}" if named and measurement else ""
    return VerdictRow(
        limit=one_line(f"{verdict.limit}{name}"),
        value=si(measurement.value, measurement.unit) if measurement else "",
        source=measurement.source if measurement else "",
        outcome=verdict.status,
        metric=one_line(_name(verdict) or verdict.metric.replace("_", " ")),
        test=one_line(getattr(verdict, "test", "")),
        origin="" if verdict.origin == "none" else one_line(verdict.origin),
        text=lines(verdict.text, 1 if compared and verdict.red else 40),
    )
