"""The record of a test with a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.plugin.collection import Case, uses
from pytest_autodeploy.plugin.over_pins import pins_run_of
from pytest_autodeploy.plugin.services import session_of, uses_of
from pytest_autodeploy.plugin.state import (
    ARTIFACTS,
    ATTEMPTS,
    FILES,
    JUDGEMENT,
    runtime_of,
    settings_of,
)
from pytest_autodeploy.plugin.subject import estimate_of, relative_name, subject_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
    from pytest_autodeploy.model.graph import Model


def record_of(item: pytest.Item, case: Case, report: pytest.TestReport) -> TestRecord:
    """What a test has measured, how that was judged, and how it ended."""
    from pytest_autodeploy.metrics.record import NO_FILES, TestRecord
    from pytest_autodeploy.metrics.record_parts import with_estimate, with_pins, with_session
    from pytest_autodeploy.plugin.owed import unjudged_rows
    from pytest_autodeploy.run.metrics import metrics

    attempts = item.stash.get(ATTEMPTS, None)
    record = TestRecord(
        nodeid=item.nodeid,
        outcome=_outcome(report),
        message=message_of(report),
        model=_model_facts(item, case),
        board=_board_asked_for(item, case),
        artifacts=item.stash.get(ARTIFACTS, None),
        files=item.stash.get(FILES, NO_FILES),
        attempts=tuple(attempts or ()),
        uses=uses_of(item),
    )
    session, estimate = session_of(item), estimate_of(item)
    judgement = item.stash.get(JUDGEMENT, None)
    if session is not None and session.known:
        subject = subject_of(item)
        subject.evidence = judgement.evidence if judgement else subject.evidence
        found = (each for metric in metrics().values() for each in metric.measurements(subject))
        record = with_session(record, subject, judgement, found)
    if session is None and (over_pins := pins_run_of(item)) is not None:
        record = with_pins(record, over_pins, judgement)
    elif session is None and estimate is not None:
        record = with_estimate(record, estimate, judgement)
    if judgement is not None and not record.verdicts:  # the board broke after them
        record = replace(record, verdicts=judgement.rows)
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
    except AutodeployError:  # also an extra that its conversion needs
        return ModelFacts(case.model.id, path.stem, str(path))
    return model_facts(case.model.id, model, relative_name(path, settings_of(item.config).rootdir))


def message_of(report: pytest.TestReport) -> str:
    """The first line of a failure, or the reason of a skip."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    return next(iter(text.strip().splitlines()), "").removeprefix("Failed: ")
