"""The ledger of a run: what all tests together owed and nothing judged."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.record import TestRecord

ENDED_WELL = ("passed", "skipped")
"""Outcomes that would let a run pass; a limit in a test that failed is told there."""


def unjudged(records: Iterable[TestRecord]) -> list[tuple[TestRecord, Row]]:
    """The limits that a test owed and skipped over, and that no other test judged either."""
    every = list(records)
    judged = {
        _place(record, row)
        for record in every
        for row in record.verdicts
        if row.status in ("pass", "FAIL")
    }
    return [
        (record, row)
        for record in every
        if record.outcome in ENDED_WELL
        for row in record.verdicts
        if row.red and _place(record, row) not in judged
    ]


def allowed(records: Iterable[TestRecord]) -> int:
    """How many limits were not judged because the user allowed it."""
    return sum(row.allowed for record in records for row in record.verdicts)


def _place(record: TestRecord, row: Row) -> tuple[str, str | None, str]:
    return record.model.id, record.board.id, row.limit
