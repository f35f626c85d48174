"""Accuracy: what the board's and the PC's outputs are worth on inputs with labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.accuracy import DECLARATION, AccuracyLimit, Task
from pytest_autodeploy.limits.merging import Declared
from pytest_autodeploy.metrics.accuracy.compare import TaskComparison, compared
from pytest_autodeploy.metrics.accuracy.words import changed_lines, side_lines
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, failure_block, no_limit, row
from pytest_autodeploy.metrics.subject import Subject
from pytest_autodeploy.reference.labels import fitted_labels
from pytest_autodeploy.session.labelled import LabelledRun, side_of

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession

ROUNDING = 1e-9
"""A drop is a difference of shares: 0.98 - 0.97 is to be within 0.01."""


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
        run = _labelled(session)
        run = _of_task(run, session, limit.task)
        _check_kind(declared, limit, run)
        model = session.model
        if limit.against is not None:
            model = subject.services.other_model(limit.against, declared.origin)
        comparison = _comparison(run, session, model, subject.services.reference(model))
        subject.evidence.accuracy = subject.evidence.accuracy or comparison
        for bound in _bounds(limit, comparison):
            yield _row(declared, bound, comparison, subject)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """What the board is worth."""
        if judged or subject.session is None or subject.session.measured.labelled is None:
            return
        model = subject.session.model
        reference = subject.services.reference(model)
        comparison = _comparison(_labelled(subject.session), subject.session, model, reference)
        subject.evidence.accuracy = comparison
        name = "accuracy" if comparison.are_classes else "rmse"
        if figure := comparison.board_figure(name):
            yield no_limit(DECLARATION, figure)


def _labelled(session: ModelSession) -> LabelledRun:
    run = session.measured.labelled
    assert run is not None
    return run


def _of_task(run: LabelledRun, session: ModelSession, task: Task) -> LabelledRun:
    """The same inferences, judged by what the limit says."""
    if task == run.task:
        return run
    tensor = session.model.outputs[task.output]
    labels = fitted_labels(run.labels, tensor, run.run.inputs.count, task)
    board = side_of(tensor, run.run.outputs[task.output], labels, task)
    return replace(run, labels=labels, task=task, board=board)


def _check_kind(declared: Declared, limit: AccuracyLimit, run: LabelledRun) -> None:
    words = declared.words
    if run.labels.are_classes and (limit.max_rmse, limit.min_r2) != (None, None):
        raise InputsError(
            f"{words}: {run.labels.origin} are class indices",
            hint="max_rmse and min_r2 are for real targets, which are floats",
        )
    if not run.labels.are_classes and (limit.min is not None or limit.task.top_k > 1):
        raise InputsError(
            f"{words}: {run.labels.origin} are real targets",
            hint="min and top_k are for classes, whose labels are integers",
        )


def _comparison(
    run: LabelledRun, session: ModelSession, model: Model, reference: Reference
) -> TaskComparison:
    from pytest_autodeploy.metrics.accuracy.pc import inputs_for, pc_outputs

    other = model.sha256 != session.model.sha256
    inputs = inputs_for(run.run.inputs, session.model, model) if other else run.run.inputs
    task, own = run.task, run.board.tensor
    if other and (
        task.output >= len(model.outputs) or model.outputs[task.output].elements != own.elements
    ):
        raise InputsError(
            f"{model.path}: its output {task.output} is not like {own.name!r} of the model that it "
            f"stands for, {session.model.name}"
        )
    outputs, failed = pc_outputs(
        reference,
        model,
        inputs,
        task.output,
        reset_each=session.state_mode == "reset",
        progress=session.progress,
    )
    tensor = model.outputs[task.output]
    sides = {path: side_of(tensor, array, run.labels, task) for path, array in outputs.items()}
    return compared(
        run,
        sides,
        source=session.source,
        failed_paths=failed,
        against=model.path.name if other else "",
    )


@dataclass(frozen=True)
class _Bound:
    """A value that may not be below (``least``) or above its limit."""

    what: str
    value: float | None
    measurement: Measurement | None
    limit: float | None
    least: bool

    @property
    def met(self) -> bool:
        value, limit = self.value or 0.0, self.limit or 0.0
        return value >= limit - ROUNDING if self.least else value <= limit + ROUNDING

    @property
    def words(self) -> str:
        return f"at {'least' if self.least else 'most'} {self.limit:.6g}"


def _bounds(limit: AccuracyLimit, comparison: TaskComparison) -> list[_Bound]:
    board, figure = comparison.board, comparison.board_figure
    drop = "accuracy" if comparison.are_classes else "R²"
    bounds = [
        _Bound("accuracy", board.accuracy, figure("accuracy"), limit.min, least=True),
        _Bound("RMSE", board.rmse, figure("rmse"), limit.max_rmse, least=False),
        _Bound("R²", board.r2, figure("r2"), limit.min_r2, least=True),
        _Bound(
            f"drop of {drop} from the PC to the board",
            comparison.drop,
            comparison.drop_figure(),
            limit.max_drop,
            least=False,
        ),
    ]
    return [bound for bound in bounds if bound.limit is not None]


def _row(declared: Declared, bound: _Bound, comparison: TaskComparison, subject: Subject) -> Row:
    if bound.value is None:
        raise InputsError(
            f"{declared.words}: R² is not defined, as the targets do not vary",
            hint="use max_rmse, or more varied samples",
        )
    if bound.met:
        words = f"{bound.what} {bound.value:.6g}, {bound.words}"
        return row(declared, "pass", words, bound.measurement)
    text = "\n".join(
        [
            f"{bound.what} is {'under' if bound.least else 'over'} its limit",
            f"  limit   {bound.words}",
            f"  value   {bound.value:.6g}",
            *side_lines(comparison),
            *changed_lines(comparison),
        ]
    )
    return row(declared, "FAIL", failure_block(declared, subject, text), bound.measurement)
