"""Arithmetic of task metrics: decisions, hits, confused classes, RMSE and R².

Everything is computed on real values: integers are dequantised with the output's own scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.reference.metrics import real_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

THRESHOLD = 0.5
"""An output of one element decides for class 1 above it, in real units."""

NO_DECISION = -1
"""The decision of a sample whose scores are not numbers; it is never right."""


def real_scores(tensor: Tensor, outputs: NDArray[Any]) -> Floats:
    """An output (n, *tensor shape) as (n, classes or elements) real values.

    One element p of a binary classifier stays one column.
    """
    return real_values(tensor, outputs).reshape(len(outputs), -1)


def decisions(scores: Floats) -> Integers:
    """The class of each sample: the highest score, of equals the lowest class.

    One score decides for class 1 above 0.5, for class 0 otherwise.
    """
    if scores.shape[1] == 1:
        chosen = (scores[:, 0] > THRESHOLD).astype(np.int64)
    else:
        chosen = scores.argmax(axis=1).astype(np.int64)
    chosen[np.isnan(scores).any(axis=1)] = NO_DECISION
    return chosen


def hits(scores: Floats, labels: Integers, top_k: int) -> NDArray[np.bool_]:
    """Whether each label is among the ``top_k`` highest scores; of equals the lower class first."""
    if top_k == 1:
        same: NDArray[np.bool_] = decisions(scores) == labels
        return same
    of_label = scores[np.arange(len(labels)), labels][:, np.newaxis]
    lower = np.arange(scores.shape[1]) < labels[:, np.newaxis]
    before = (scores > of_label) | ((scores == of_label) & lower)
    right: NDArray[np.bool_] = (before.sum(axis=1) < top_k) & ~np.isnan(scores).any(axis=1)
    return right


def confused(labels: Integers, chosen: Integers) -> list[tuple[int, int, int]]:
    """How often each label met each decision: label, decision, count, of what occurs."""
    pairs, counts = np.unique(np.stack([labels, chosen]), axis=1, return_counts=True)
    return [(int(a), int(b), int(count)) for (a, b), count in zip(pairs.T, counts, strict=True)]


def rmse(values: Floats, targets: Floats) -> float:
    """Root of the mean squared error over all elements of all samples."""
    return float(np.sqrt(np.mean(np.square(values - targets))))


def r2(values: Floats, targets: Floats) -> float | None:
    """Coefficient of determination, 1 - SS_residual / SS_total, summed over the elements.

    SS_total is around the mean of each element. None when the targets do not vary.
    """
    total = float(np.sum(np.square(targets - targets.mean(axis=0))))
    return 1 - float(np.sum(np.square(values - targets))) / total if total else None
