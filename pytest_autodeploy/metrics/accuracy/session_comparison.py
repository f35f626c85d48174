"""How accurate the board and the PC are on the labelled samples of a session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.metrics.accuracy.compare import TaskComparison, compared
from pytest_autodeploy.reference.labels import fitted_labels
from pytest_autodeploy.session.labelled import LabelledRun, side_of

if TYPE_CHECKING:
    from pytest_autodeploy.limits.accuracy import Task
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession


def labelled_run(session: ModelSession) -> LabelledRun:
    """The labelled run of a session that has one."""
    run = session.measured.labelled
    assert run is not None
    return run


def of_task(run: LabelledRun, session: ModelSession, task: Task) -> LabelledRun:
    """The same inferences, judged by what the limit says."""
    if task == run.task:
        return run
    tensor = session.model.outputs[task.output]
    labels = fitted_labels(run.labels, tensor, run.run.inputs.count, task)
    board = side_of(tensor, run.run.outputs[task.output], labels, task)
    return replace(run, labels=labels, task=task, board=board)


def comparison_of(
    run: LabelledRun, session: ModelSession, model: Model, reference: Reference
) -> TaskComparison:
    """A run on the board held against the PC, whose ``model`` may be another that it stands for.

    Raises InputsError for a model whose inputs or output are of another form.
    """
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
