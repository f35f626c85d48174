"""The results that a run left in its folder, as the records that baselines are made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.baseline.format import entry_of
from pytest_autodeploy.baseline.lookup import Sought
from pytest_autodeploy.baseline.standard import standard
from pytest_autodeploy.baseline.update import FAILED
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.record import TestRecord

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result


def record_of(result: Result) -> TestRecord:
    """All tests of a result as one: it failed when one of them did, or needed a rerun."""
    failed = [test for test in result.tests if test.outcome in FAILED]
    shown = failed[0] if failed else result.tests[0]
    return TestRecord(
        nodeid=shown.nodeid,
        outcome=shown.outcome if failed else "passed",
        message=shown.message,
        model=result.model,
        board=result.board,
        measurements=result.measurements,
        profile=result.profile,
        attempts=tuple(attempt for test in result.tests for attempt in test.attempts),
    )


def held_against(record: TestRecord, folder: Path, root: Path, limit: NoRegression) -> Comparison:
    """The comparison of a result with its baseline; a damaged file is not comparable."""
    model, board = record.model, record.board
    sought = Sought(model.id, model.file or "", model.sha256, board.name or "", board.kind or "")
    now = entry_of(model.sha256, board, record.measurements, record.profile, limit)
    return standard(folder, root, sought).compared(now, limit)


def baseline_files(folder: Path) -> Iterator[Path]:
    """The files of a folder of baselines, in order."""
    yield from sorted(folder.glob("*/[!.]*.json"))
