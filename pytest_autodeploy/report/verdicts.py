"""The verdicts of a record or result, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.report.text import lines, one_line
from pytest_autodeploy.report.units import si

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
    """All verdicts, those that tests repeat only once."""
    return list(dict.fromkeys(_row(verdict) for verdict in result.get("verdicts", ())))


def _row(verdict: Mapping[str, Any]) -> VerdictRow:
    measurement = verdict.get("measurement")
    return VerdictRow(
        limit=one_line(verdict["limit"]),
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
