"""The report of a test with a model: its errors as one message, and its record."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.text import writable_data
from pytest_autodeploy.metrics.failures import class_of_error, classify
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.plugin.attachments import attach
from pytest_autodeploy.plugin.attempts import keep_attempt, note_fault, note_pass
from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.failure_location import (
    exhausted_by_us,
    one_block,
    raised_in_body,
    relocate,
    shown_in_test,
)
from pytest_autodeploy.plugin.problems import part_of
from pytest_autodeploy.plugin.record import record_of
from pytest_autodeploy.plugin.state import FAILURE
from pytest_autodeploy.plugin.suite.collector import in_suite


def complete_report(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Complete the report that pytest, and all other plugins, make of a test."""
    error = call.excinfo.value if call.excinfo else None
    if error and (known := exhausted_by_us(error)):
        call.excinfo = pytest.ExceptionInfo.from_exception(known)
    with shown_in_test(item, call):
        report = yield
    # Outermost, so after pytest-html has put the list of its fixture on the report. What is added
    # to that list in a teardown is lost (4.2, issue 820); so ours goes on the report itself.
    _complete(item, call, report)
    return report


def _complete(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Show our errors as one message, note broken boards, and attach the record."""
    case = case_of(item)
    error = call.excinfo.value if call.excinfo else None
    failure = item.stash.get(FAILURE, None) or class_of_error(error)
    if isinstance(error, AutodeployError):
        if call.when != "call" or in_suite(item) or not raised_in_body(item, error):
            report.longrepr = one_block(item, call.when, error, classify(failure, str(error)))
        elif crash := getattr(report.longrepr, "reprcrash", None):
            crash.message = classify(failure, crash.message)
        if case is not None:
            note_fault(item, case, error, report)
    elif isinstance(error, pytest.fail.Exception) and not error.pytrace:
        relocate(item, report.longrepr, error)
    if case is None or (call.when != "call" and report.passed):
        return
    if call.when == "call" and report.passed:
        note_pass(item, case)
    from pytest_autodeploy.metrics.record import from_plain, to_plain

    record: TestRecord | None = None
    with part_of(report, "the record"):
        record = record_of(item, case, report)
        if report.failed:
            record = replace(record, failure_class=failure)
        plain = writable_data(to_plain(record))
        record = from_plain(plain)  # what the process that ends the run will read
        report.autodeploy = plain  # type: ignore[attr-defined]
        attach(item, report, record)
    if report.failed:
        keep_attempt(item, failure, report, record)
