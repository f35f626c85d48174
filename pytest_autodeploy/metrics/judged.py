"""Filling the record of a test with how it was judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.records.agreement import agreement_record
from pytest_autodeploy.metrics.records.diagnosis import explanation_record, sensitivity_record

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.accuracy import AccuracyRecord


def with_judgement(record: TestRecord, judgement: Judgement) -> TestRecord:
    """The record with the rows of the ledger, and the comparisons that they rest on."""
    evidence, explanation = judgement.evidence, judgement.explanation
    return replace(
        record,
        agreement=agreement_record(evidence.agreement) if evidence.agreement else None,
        sensitivity=sensitivity_record(evidence.sensitivity) if evidence.sensitivity else None,
        accuracy=_accuracy(evidence.accuracy) if evidence.accuracy else None,
        explanation=explanation_record(explanation) if explanation else None,
        comparison=evidence.comparison,
        verdicts=judgement.rows,
    )


def _accuracy(comparison: TaskComparison) -> AccuracyRecord:
    from pytest_autodeploy.metrics.accuracy.record import accuracy_record  # it needs NumPy

    return accuracy_record(comparison)
