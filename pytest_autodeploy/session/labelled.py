"""How accurate one side, the board or the PC, is on labelled data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.short_repr import short
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.reference import scores
from pytest_autodeploy.reference.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor
    from pytest_autodeploy.session.measured import RunResult


@dataclass(frozen=True, eq=False)
class Side:
    """Figures of one output over all samples; of classes or of real targets, the others are None.

    ``outputs``: (n, *tensor shape), stored values of ``tensor``. ``accuracy``: the share of samples
    whose label is among the ``top_k`` highest scores, of equal scores the lowest class first; a
    single score decides for class 1 above 0.5. ``decisions``: the class of each sample, -1 where a
    score is not a number. ``rmse`` is in the output's real unit; ``r2`` is None also for targets
    that do not vary.
    """

    tensor: Tensor
    outputs: NDArray[Any]
    correct: int | None = None
    accuracy: float | None = None
    decisions: NDArray[np.int64] | None = None
    rmse: float | None = None
    r2: float | None = None

    def __repr__(self) -> str:
        figures = {"accuracy": self.accuracy, "correct": self.correct, "rmse": self.rmse}
        known = {name: figure for name, figure in figures.items() if figure is not None}
        return short(self, output=self.tensor.name, samples=len(self.outputs), **known)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Real values of shape (n, elements of the output)."""
        return scores.real_scores(self.tensor, self.outputs)


def side_of(tensor: Tensor, outputs: NDArray[Any], labels: Labels, task: Task) -> Side:
    """Judge an output (n, *tensor shape) by labels that were fitted to it."""
    values = scores.real_scores(tensor, outputs)
    if not labels.are_classes:
        rmse, r2 = scores.rmse(values, labels.array), scores.r2(values, labels.array)
        return Side(tensor, outputs, rmse=rmse, r2=r2)
    correct = int(scores.hits(values, labels.array, task.top_k).sum())
    share = correct / len(outputs)
    return Side(tensor, outputs, correct, share, scores.decisions(values))


@dataclass(frozen=True, eq=False)
class LabelledRun:
    """Inferences on the board over samples with labels.

    ``run`` has their inputs and outputs, ``labels`` one label per sample. ``task`` says which
    output is judged and how many of the highest classes count, ``board`` how accurate it is.
    ``restarts``: for each time the board had to be restarted, the sample and what broke.
    """

    run: RunResult
    labels: Labels
    task: Task
    board: Side
    restarts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return short(self, run=self.run, board=self.board, restarts=len(self.restarts))

    @property
    def accuracy(self) -> float | None:
        """Share of samples that the board classifies correctly, None for real targets."""
        return self.board.accuracy

    @property
    def decisions(self) -> NDArray[np.int64] | None:
        """The class that the board decides for, per sample; None for real targets."""
        return self.board.decisions

    @property
    def rmse(self) -> float | None:
        """Root mean squared error to real targets, None for classes."""
        return self.board.rmse

    @property
    def r2(self) -> float | None:
        """Coefficient of determination, None for classes and for targets that do not vary."""
        return self.board.r2
