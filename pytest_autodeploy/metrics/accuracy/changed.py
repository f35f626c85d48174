"""The samples for which board and PC decide otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.numbers import finite
from pytest_autodeploy.metrics.records.accuracy import ChangedDecision
from pytest_autodeploy.reference.scores import NO_DECISION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison


def changed_decisions(comparison: TaskComparison) -> tuple[ChangedDecision, ...]:
    """Each sample for which the sides decide otherwise; none of real targets."""
    board, pc = comparison.board, comparison.pc
    if board.decisions is None or pc.decisions is None:
        return ()
    labels, board_scores, pc_scores = comparison.run.labels.array, board.scores, pc.scores
    return tuple(
        ChangedDecision(
            int(sample),
            int(labels[sample]),
            *_decision(board.decisions[sample], board_scores[sample]),
            *_decision(pc.decisions[sample], pc_scores[sample]),
        )
        for sample in comparison.changed
    )


def _decision(
    chosen: np.int64, scores: NDArray[np.float64]
) -> tuple[int, float | None] | tuple[None, None]:
    """The class and its score, of one score that score; None without a decision."""
    if chosen == NO_DECISION:
        return None, None
    return int(chosen), finite(float(scores[0 if len(scores) == 1 else chosen]))
