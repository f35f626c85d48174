"""Running many samples with labels on a board, which may break in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import TRANSIENT, BoardError, InputsError
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.reference.labels import Labels, as_labels, fitted_labels
from pytest_autodeploy.rpc.pieces import MOST_AHEAD
from pytest_autodeploy.session.labelled import LabelledRun, side_of
from pytest_autodeploy.session.measured import RunResult

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.session.model_on_board import ModelOnBoard

MOST_RESTARTS = 3
"""How often a board may break in one run."""


def run_labelled(
    session: ModelOnBoard, inputs: Inputs, labels: Any, top_k: int | None, output: int | None
) -> LabelledRun:
    """Check the labels, then run every sample. Raises InputsError, and BoardError.

    ``labels``, ``top_k`` and ``output`` None are the session's own.
    """
    own = session.task
    task = Task(own.top_k if top_k is None else top_k, own.output if output is None else output)
    fitted = _fit(session, inputs, labels, task)
    outputs, restarts = run_resumable(session, inputs)
    tensor = session.model.outputs[task.output]
    return LabelledRun(
        RunResult(inputs, outputs, session.reset_each),
        fitted,
        task,
        side_of(tensor, outputs[task.output], fitted, task),
        restarts,
    )


def run_resumable(
    session: ModelOnBoard, inputs: Inputs
) -> tuple[tuple[np.ndarray, ...], tuple[str, ...]]:
    """The outputs of every sample, and for each restart of the board the sample and what broke.

    A board that breaks is restarted and goes on from the sample that failed; from the first one
    when the model carries state. Raises the BoardError of a board that breaks at the same sample
    again, or too often.
    """
    outputs = session.empty_outputs(inputs.count)
    from_start = session.model.stateful and not session.reset_each
    restarts: list[str] = []
    sample, broken, alone = 0, -1, 0
    session.set_up()
    while sample < inputs.count:
        try:
            while sample < min(alone, inputs.count):
                session.infer(inputs, sample, outputs)
                sample += 1
            for done in session.infer_from(inputs, sample, outputs):
                sample = done + 1
        except TRANSIENT as error:
            where = f"sample {sample} of {inputs.count}"
            if sample == broken:
                raise _named(error, f"{where}, for the second time") from None
            if len(restarts) == MOST_RESTARTS:
                raise _named(error, f"{where}, the board broke {MOST_RESTARTS + 1} times") from None
            restarts.append(f"sample {sample}: {error.what}")
            use_of(session.board).retries += 1
            broken = sample
            # Of those that were on their way the first without an answer is known, not the one that
            # the board died of: they are sent one by one now.
            alone = sample + MOST_AHEAD
            sample = 0 if from_start else sample
            session.set_up()
    return outputs, tuple(restarts)


def _fit(session: ModelOnBoard, inputs: Inputs, labels: Any, task: Task) -> Labels:
    given = session.labels if labels is None else as_labels(labels)
    if given is None:
        raise InputsError(
            "accuracy: there are no labels",
            hint="give --tflite-labels=FILE, override the fixture model_labels, or pass labels",
        )
    if inputs.seed is not None:
        raise InputsError(
            f"{given.origin}: the inputs are random ones",
            hint="give those that the labels belong to with --tflite-inputs=FILE, or override the "
            "fixture model_inputs",
        )
    outputs = session.model.outputs
    if task.output >= len(outputs):
        names = ", ".join(f"{number} {tensor.name!r}" for number, tensor in enumerate(outputs))
        raise InputsError(
            f"accuracy: no output {task.output}; the model has {names}",
            hint="choose one by output=N, the first is 0",
        )
    return fitted_labels(given, outputs[task.output], inputs.count, task)


def _named(error: BoardError, where: str) -> BoardError:
    """The error with the sample in its first line."""
    return type(error)(
        f"{where}: {error.what}", board=error.board, seconds=error.seconds, hint=error.hint
    )
