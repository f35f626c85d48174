"""The verdicts of a record or result, ready to be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.base.text import lines, one_line
from pytest_autodeploy.base.units import si

COMPARED = ("regression", "not comparable")
"""Failures whose tables are shown on their own."""


@dataclass(frozen=True)
class VerdictRow:
    """One limit and the value that it was held against.

    ``outcome`` is ``pass``, ``FAIL``, ``no limit``, or ``not judged`` when there was no value.
    """

    limit: str
    value: str
    source: str
    outcome: str
    origin: str
    words: str


def verdict_rows(result: Mapping[str, Any]) -> list[VerdictRow]:
    """All verdicts, those that tests repeat only once.

    A limit on more than one value is followed by the name of each.
    """
    verdicts = result.get("verdicts", ())
    values = {(verdict["limit"], name) for verdict in verdicts if (name := _name(verdict))}
    several = {limit for limit, count in Counter(limit for limit, _ in values).items() if count > 1}
    rows = (_row(verdict, named=verdict["limit"] in several) for verdict in verdicts)
    return list(dict.fromkeys(rows))


def _name(verdict: Mapping[str, Any]) -> str:
    measurement = verdict.get("measurement")
    return measurement["name"].replace("_", " ") if measurement else ""


def _row(verdict: Mapping[str, Any], *, named: bool) -> VerdictRow:
    measurement = verdict.get("measurement")
    name = f": {_name(verdict)}" if named and measurement else ""
    return VerdictRow(
        limit=one_line(f"{verdict['limit']}{name}"),
        value=si(measurement["value"], measurement["unit"]) if measurement else "",
        source=measurement["source"] if measurement else "",
        outcome=_outcome(verdict["passed"], measurement),
        origin="" if verdict["origin"] == "none" else one_line(verdict["origin"]),
        words=lines(verdict["words"], 1 if verdict.get("failure") in COMPARED else 40),
    )


def _outcome(passed: bool | None, measurement: object) -> str:
    if passed is None:
        return "no limit" if measurement else "not judged"
    return "pass" if passed else "FAIL"
