"""Judging accuracy: both sides are computed, then each bound gets its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.accuracy import AccuracyLimit, Task
from pytest_autodeploy.limits.declarations import Declared
from pytest_autodeploy.metrics.accuracy.compare import TaskComparison, compared
from pytest_autodeploy.metrics.accuracy.words import changed_lines, side_lines
from pytest_autodeploy.metrics.judge import Judgement, failure_block, unlimited
from pytest_autodeploy.metrics.verdict import Verdict
from pytest_autodeploy.reference.labels import fitted_labels
from pytest_autodeploy.session.labelled import LabelledRun, side_of

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession

ROUNDING = 1e-9
"""A drop is a difference of shares: 0.98 - 0.97 is to be within 0.01."""

TaskSide = Callable[[Declared | None], tuple["Model", "Reference"]]
"""Gives the model that the PC runs for a limit, and what runs it."""


def with_accuracy(
    judgement: Judgement, session: ModelSession, limits: Mapping[str, Declared], pc: TaskSide
) -> Judgement:
    """The judgement with that of the accuracy.

    A marker's limit is measured now if the test has not; others judge only what was measured.
    Raises InputsError when there are no labels, or none that the limit is for.
    """
    declared = limits.get("accuracy")
    limit = declared.limit if declared else None
    if session.measured.labelled is None:
        if declared is None or declared.origin != "marker":
            return judgement
        session.accuracy()
    run = session.measured.labelled
    assert run is not None
    if isinstance(limit, AccuracyLimit):
        run = _of_task(run, session, limit.task)
        _check_kind(declared, limit, run)
    comparison = _comparison(run, session, *pc(declared))
    verdicts = (*judgement.verdicts, *_verdicts(declared, comparison, session))
    return replace(judgement, verdicts=verdicts, accuracy=comparison)


def _of_task(run: LabelledRun, session: ModelSession, task: Task) -> LabelledRun:
    """The same inferences, judged by what the limit says."""
    if task == run.task:
        return run
    tensor = session.model.outputs[task.output]
    labels = fitted_labels(run.labels, tensor, run.run.inputs.count, task)
    board = side_of(tensor, run.run.outputs[task.output], labels, task)
    return replace(run, labels=labels, task=task, board=board)


def _check_kind(declared: Declared | None, limit: AccuracyLimit, run: LabelledRun) -> None:
    words = declared.words if declared else ""
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


def _verdicts(
    declared: Declared | None, comparison: TaskComparison, session: ModelSession
) -> Iterator[Verdict]:
    limit = declared.limit if declared else None
    if declared is None or not isinstance(limit, AccuracyLimit):
        name = "accuracy" if comparison.are_classes else "rmse"
        if figure := comparison.board_figure(name):
            yield unlimited("accuracy", figure)
        return
    for bound in _bounds(limit, comparison):
        if bound.value is None:
            raise InputsError(
                f"{declared.words}: R² is not defined, as the targets do not vary",
                hint="use max_rmse, or more varied samples",
            )
        yield _verdict(declared, bound, comparison, session)


def _verdict(
    declared: Declared, bound: _Bound, comparison: TaskComparison, session: ModelSession
) -> Verdict:
    if bound.met:
        words = f"{bound.what} {bound.value:.6g}, {bound.words}"
        return Verdict(declared.words, declared.origin, True, words, bound.measurement)
    text = "\n".join(
        [
            f"{bound.what} is {'under' if bound.least else 'over'} its limit",
            f"  limit   {bound.words}",
            f"  value   {bound.value:.6g}",
            *side_lines(comparison),
            *changed_lines(comparison),
        ]
    )
    words = failure_block(declared, session, text)
    return Verdict(declared.words, declared.origin, False, words, bound.measurement)
