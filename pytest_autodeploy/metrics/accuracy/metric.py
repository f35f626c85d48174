"""Accuracy: of the board's and the PC's outputs, on labelled inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.accuracy import DECLARATION, AccuracyLimit
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.metrics.accuracy.bounds import Bound, bounds_of
from pytest_autodeploy.metrics.accuracy.session_comparison import (
    comparison_of,
    labelled_run,
    of_task,
)
from pytest_autodeploy.metrics.accuracy.text import changed_lines, side_lines
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, failure_block, no_limit, row
from pytest_autodeploy.metrics.subject import Subject

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.session.labelled import LabelledRun


class Accuracy(Metric):
    """The labelled samples of the test."""

    declaration = DECLARATION

    def provide(self, subject: Subject) -> None:
        """Run the session's own inputs and labels. Raises InputsError without labels."""
        if subject.board.measured.labelled is None:
            subject.board.accuracy()

    def measurements(self, subject: Subject) -> list[Measurement]:
        """Both sides and the drop."""
        comparison = subject.evidence.accuracy
        return comparison.measurements() if comparison else []

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether the test has run samples with labels."""
        return subject.board.measured.labelled is not None

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """A row for each bound. Raises InputsError when the limit is not for these labels."""
        session, limit = subject.board, declared.limit
        run = labelled_run(session)
        run = of_task(run, session, limit.task)
        _check_kind(declared, limit, run)
        model = session.model
        if limit.against is not None:
            model = subject.services.other_model(limit.against, declared.origin)
        comparison = comparison_of(run, session, model, subject.services.reference(model))
        subject.evidence.accuracy = subject.evidence.accuracy or comparison
        for bound in bounds_of(limit, comparison):
            yield _row(declared, bound, comparison, subject)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """How accurate the board is."""
        if judged or subject.session is None or subject.session.measured.labelled is None:
            return
        model = subject.session.model
        reference = subject.services.reference(model)
        comparison = comparison_of(labelled_run(subject.session), subject.session, model, reference)
        subject.evidence.accuracy = comparison
        name = "accuracy" if comparison.are_classes else "rmse"
        if figure := comparison.board_figure(name):
            yield no_limit(DECLARATION, figure)


def _check_kind(declared: Declared, limit: AccuracyLimit, run: LabelledRun) -> None:
    text = declared.text
    if run.labels.are_classes and (limit.max_rmse, limit.min_r2) != (None, None):
        raise InputsError(
            f"{text}: {run.labels.origin} are class indices",
            hint="max_rmse and min_r2 are for real targets, which are floats",
        )
    if not run.labels.are_classes and (limit.min is not None or limit.task.top_k > 1):
        raise InputsError(
            f"{text}: {run.labels.origin} are real targets",
            hint="min and top_k are for classes, whose labels are integers",
        )


def _row(declared: Declared, bound: Bound, comparison: TaskComparison, subject: Subject) -> Row:
    if bound.value is None:
        raise InputsError(
            f"{declared.text}: R² is not defined, as the targets do not vary",
            hint="use max_rmse, or more varied samples",
        )
    if bound.met:
        text = f"{bound.what} {bound.value:.6g}, {bound.text}"
        return row(declared, "pass", text, bound.measurement)
    text = "\n".join(
        [
            f"{bound.what} is {'under' if bound.least else 'over'} its limit",
            f"  limit   {bound.text}",
            f"  value   {bound.value:.6g}",
            *side_lines(comparison),
            *changed_lines(comparison),
        ]
    )
    return row(declared, "FAIL", failure_block(declared, subject, text), bound.measurement)
