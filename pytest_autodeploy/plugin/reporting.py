"""The report of a test with a model: its errors as one message, its record, its HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import TRANSIENT, AutodeployError, BoardGivenUp, ModelError
from pytest_autodeploy.base.text import writable_data
from pytest_autodeploy.metrics.failures import class_of_error, classified
from pytest_autodeploy.metrics.record import Attempt
from pytest_autodeploy.plugin.collection import Case, case_of
from pytest_autodeploy.plugin.failure_location import one_block, raised_in_body, relocate
from pytest_autodeploy.plugin.problems import part_of
from pytest_autodeploy.plugin.running import uses
from pytest_autodeploy.plugin.state import (
    ARTIFACTS,
    ATTEMPTS,
    FAILURE,
    FILES,
    JUDGEMENT,
    runtime_of,
    settings_of,
)
from pytest_autodeploy.plugin.subject import estimate_of, relative_name, session_of, subject_of
from pytest_autodeploy.plugin.suite.collector import in_suite

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
    from pytest_autodeploy.model.graph import Model


def complete_report(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> None:
    """Show our errors as one message, note broken boards, and attach the record."""
    case = case_of(item)
    error = call.excinfo.value if call.excinfo else None
    failure = item.stash.get(FAILURE, None) or class_of_error(error)
    if isinstance(error, AutodeployError):
        if call.when != "call" or in_suite(item) or not raised_in_body(item, error):
            report.longrepr = one_block(item, call.when, error, classified(failure, str(error)))
        elif crash := getattr(report.longrepr, "reprcrash", None):
            crash.message = classified(failure, crash.message)
        if case is not None:
            _note_fault(item, case, error, call.when)
    elif isinstance(error, pytest.fail.Exception) and not error.pytrace:
        relocate(item, report.longrepr, error)
    if case is None or (call.when != "call" and report.passed):
        return
    if call.when == "call" and report.passed:
        runtime_of(item.config).troubles.recovered(*case.key)
    from pytest_autodeploy.metrics.record import from_plain, to_plain

    with part_of(report, "the record"):
        record = _record(item, case, report)
        if report.failed:
            record = replace(record, failure_class=failure)
        plain = writable_data(to_plain(record))
        record = from_plain(plain)  # what the process that ends the run will read
        report.autodeploy = plain  # type: ignore[attr-defined]
        _attach(item, report, record)
    if report.failed:
        attempt = Attempt(failure, _message(report), record.measurements)
        item.stash.setdefault(ATTEMPTS, []).append(attempt)


def _attach(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """Put on the report what others than this plugin show of the record."""
    if record.log:
        report.sections.append(("Log of the board", record.log))
    with part_of(report, "the JUnit properties"):
        _set_properties(item, report, record)
    if not item.config.getoption("htmlpath", None):
        return
    with part_of(report, "the details in the HTML report"):
        extra = {
            "name": "model",
            "format_type": "html",
            "content": _html(record),
            "mime_type": None,
            "extension": None,
        }
        report.extras = [*getattr(report, "extras", []), extra]  # type: ignore[attr-defined]


def _html(record: TestRecord) -> str:
    if record.npu:
        from pytest_autodeploy.npu.layer_csv import layer_csv
        from pytest_autodeploy.report.npu_html import estimate_html
        from pytest_autodeploy.report.results import csv_name

        csv = layer_csv(record.npu)
        return estimate_html(record.npu, csv=csv, csv_name=csv_name(record.model))
    from pytest_autodeploy.report.html import extra_html

    return extra_html(record)


def _set_properties(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """On this report and on those to come, of which JUnit takes the last; once after a rerun."""
    from pytest_autodeploy.report.junit import properties

    others = [pair for pair in item.user_properties if not pair[0].startswith("autodeploy.")]
    item.user_properties[:] = [*others, *properties(record)]
    report.user_properties[:] = item.user_properties


def _note_fault(item: pytest.Item, case: Case, error: AutodeployError, when: str) -> None:
    troubles = runtime_of(item.config).troubles
    if isinstance(error, BoardGivenUp):
        return
    if isinstance(error, TRANSIENT):
        troubles.fault(*case.key, error, item.nodeid)
    elif when == "setup":
        troubles.give_up(*case.key, error, item.nodeid)


def _record(item: pytest.Item, case: Case, report: pytest.TestReport) -> TestRecord:
    from pytest_autodeploy.metrics.record import NO_FILES, TestRecord
    from pytest_autodeploy.metrics.recording import with_estimate, with_session
    from pytest_autodeploy.plugin.owed import unjudged_rows
    from pytest_autodeploy.run.metrics import metrics

    attempts = item.stash.get(ATTEMPTS, None)
    record = TestRecord(
        nodeid=item.nodeid,
        outcome=_outcome(report),
        message=_message(report),
        model=_model_facts(item, case),
        board=_board_asked_for(item, case),
        artifacts=item.stash.get(ARTIFACTS, None),
        files=item.stash.get(FILES, NO_FILES),
        attempts=tuple(attempts or ()),
    )
    session, estimate = session_of(item), estimate_of(item)
    judgement = item.stash.get(JUDGEMENT, None)
    if session is not None and session.known:
        subject = subject_of(item)
        subject.evidence = judgement.evidence if judgement else subject.evidence
        found = (each for metric in metrics().values() for each in metric.measurements(subject))
        record = with_session(record, subject, judgement, found)
    if session is None and estimate is not None:
        record = with_estimate(record, estimate, judgement)
    if judgement is None and not report.passed:
        record = replace(record, verdicts=tuple(unjudged_rows(item, record.message)))
    return record


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    return "error" if report.failed and report.when != "call" else str(report.outcome)


def _board_asked_for(item: pytest.Item, case: Case) -> BoardFacts:
    from pytest_autodeploy.metrics.records.facts import NO_BOARD, BoardFacts

    if case.board is None:
        return NO_BOARD
    session = session_of(item)
    clock = session.clock if session else settings_of(item.config).evb_clock
    return BoardFacts(case.board, clock if uses(item, "evb") else None)


def _model_facts(item: pytest.Item, case: Case) -> ModelFacts:
    from pytest_autodeploy.metrics.records.facts import ModelFacts, model_facts

    runtime, path = runtime_of(item.config), case.model.path
    try:
        model: Model = runtime.models.load(case.model)
    except ModelError:
        return ModelFacts(case.model.id, path.stem, str(path))
    return model_facts(case.model.id, model, relative_name(path, settings_of(item.config).rootdir))


def _message(report: pytest.TestReport) -> str:
    """The first line of a failure, or the reason of a skip."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    return next(iter(text.strip().splitlines()), "").removeprefix("Failed: ")
