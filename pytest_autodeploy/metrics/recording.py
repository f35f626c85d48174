"""Filling the record of a test: from its session, or from an estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.measurements import measurements_of
from pytest_autodeploy.metrics.records.agreement import agreement_record
from pytest_autodeploy.metrics.records.energy import energy_record
from pytest_autodeploy.metrics.records.explanation import explanation_record
from pytest_autodeploy.metrics.records.facts import accelerator_facts, board_facts

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judge import Judgement
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.session.model_session import ModelSession


def with_session(
    record: TestRecord, session: ModelSession, judgement: Judgement | None
) -> TestRecord:
    """The record with what the test has measured through its session, and how it was judged."""
    measured = session.measured
    record = replace(
        record,
        board=board_facts(session),
        seed=session.inputs.seed,
        inputs=session.inputs.origin,
        state=session.state_mode if session.model.stateful else None,
        measurements=tuple(measurements_of(session, judgement.agreement if judgement else None)),
        profile=measured.profile,
        power=tuple(map(energy_record, measured.power.values())),
        log="".join(measured.log),
    )
    return with_judgement(record, judgement) if judgement else record


def with_judgement(record: TestRecord, judgement: Judgement) -> TestRecord:
    """The record with the verdicts, and the comparisons that they rest on."""
    agreement, accuracy = judgement.agreement, judgement.accuracy
    explanation = judgement.explanation
    return replace(
        record,
        measurements=(*record.measurements, *(accuracy.measurements() if accuracy else ())),
        agreement=agreement_record(agreement) if agreement else None,
        accuracy=accuracy.record() if accuracy else None,
        explanation=explanation_record(explanation) if explanation else None,
        comparison=judgement.comparison,
        verdicts=judgement.verdicts,
    )


def with_estimate(
    record: TestRecord, estimate: Estimate, judgement: Judgement | None
) -> TestRecord:
    """The record with what an estimate says, whose accelerator stands in a board's place."""
    from pytest_autodeploy.npu.measurements import measurements_of as measurements_of_estimate

    return replace(
        record,
        board=accelerator_facts(estimate),
        measurements=tuple(measurements_of_estimate(estimate)),
        npu=estimate,
        verdicts=judgement.verdicts if judgement else (),
    )
