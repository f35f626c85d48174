"""What failed of a test: noted for those that follow, and for a further attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import TRANSIENT, AutodeployError, BoardGivenUp
from pytest_autodeploy.board.again import OfRig
from pytest_autodeploy.board.base import name_of
from pytest_autodeploy.plugin.collection import Case
from pytest_autodeploy.plugin.record import message_of
from pytest_autodeploy.plugin.second_chance import board_of, note_broken
from pytest_autodeploy.plugin.state import ATTEMPTS, BROKE, runtime_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.failures import FailureClass
    from pytest_autodeploy.metrics.record import TestRecord


def note_fault(
    item: pytest.Item, case: Case, error: AutodeployError, report: pytest.TestReport
) -> None:
    """Note what a board or a model did to a test, for those that follow."""
    troubles = runtime_of(item.config).troubles
    if isinstance(error, BoardGivenUp):
        return
    board = board_of(item, case)
    runtime_of(item.config).boards.chances.broke(case.key, board, error)
    again = report.failed and report.when != "teardown" and note_broken(item, case, error)
    if isinstance(error, TRANSIENT):
        several = isinstance(board, OfRig)
        troubles.fault(*case.key, error, item.nodeid, several=several)
    elif report.when == "setup" and not again:
        troubles.give_up(*case.key, error, item.nodeid)


def note_pass(item: pytest.Item, case: Case) -> None:
    """Earlier faults of the board were chance."""
    runtime = runtime_of(item.config)
    runtime.troubles.recovered(*case.key)
    runtime.boards.chances.passed(case.key, board_of(item, case))


def keep_attempt(
    item: pytest.Item,
    failure: FailureClass,
    report: pytest.TestReport,
    record: TestRecord | None,
) -> None:
    """Keep how a test failed, for the record of a further attempt."""
    from pytest_autodeploy.metrics.record import Attempt

    measured = record.measurements if record else ()
    broken = name_of(item.stash[BROKE]) if BROKE in item.stash else None
    attempt = Attempt(failure, message_of(report), measured, broken)
    item.stash.setdefault(ATTEMPTS, []).append(attempt)
