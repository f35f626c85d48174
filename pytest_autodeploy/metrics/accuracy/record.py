"""The record of a comparison on data with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.numbers import finite
from pytest_autodeploy.metrics.accuracy.changed import changed_decisions
from pytest_autodeploy.metrics.accuracy.text import headline
from pytest_autodeploy.metrics.records.accuracy import AccuracyRecord, SideRecord
from pytest_autodeploy.reference.labels import BINARY
from pytest_autodeploy.reference.scores import NO_DECISION, THRESHOLD, confused

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.session.labelled import Side

MOST_CLASSES = 64
"""Of more classes there is no confusion matrix, only the pairs that are confused most."""

MOST_PAIRS = 20

Pairs = list[tuple[int, int, int]]


def accuracy_record(comparison: TaskComparison) -> AccuracyRecord:
    """The record of a comparison; what is not finite is None."""
    run, classes = comparison.run, _classes(comparison)
    pairs = _pairs(comparison)
    wrong = sorted((each for each in pairs if each[0] != each[1]), key=lambda each: -each[2])
    return AccuracyRecord(
        text=headline(comparison),
        task="classification" if comparison.are_classes else "regression",
        samples=comparison.count,
        inputs=run.run.inputs.origin,
        labels=run.labels.origin,
        output=comparison.board.tensor.name,
        top_k=run.task.top_k if comparison.are_classes else None,
        threshold=THRESHOLD if comparison.is_binary else None,
        board=_side(comparison.board),
        pc={path: _side(side) for path, side in comparison.by_path.items()},
        reference=comparison.reference,
        against=comparison.against or None,
        failed_paths=dict(comparison.failed_paths),
        drop=finite(comparison.drop),
        changed=changed_decisions(comparison),
        classes=classes,
        confusion=_matrix(pairs, classes) if classes and classes <= MOST_CLASSES else None,
        confused=tuple(wrong[:MOST_PAIRS]),
        restarts=run.restarts,
    )


def _side(side: Side) -> SideRecord:
    return SideRecord(side.accuracy, side.correct, finite(side.rmse), finite(side.r2))


def _classes(comparison: TaskComparison) -> int | None:
    if comparison.board.decisions is None:
        return None
    return BINARY if comparison.is_binary else comparison.board.tensor.elements


def _pairs(comparison: TaskComparison) -> Pairs:
    """Label, decision and how often they met."""
    decisions, labels = comparison.board.decisions, comparison.run.labels.array
    return [] if decisions is None else confused(labels, decisions)


def _matrix(pairs: Pairs, classes: int) -> tuple[tuple[int, ...], ...]:
    matrix = [[0] * classes for _ in range(classes)]
    for label, decision, count in pairs:
        if decision != NO_DECISION:
            matrix[label][decision] = count
    return tuple(map(tuple, matrix))
