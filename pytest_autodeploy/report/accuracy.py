"""Accuracy in the reports: both sides, the confusion matrix, and the decisions that changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import percent

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.accuracy import (
        AccuracyRecord,
        ChangedDecision,
        SideRecord,
    )
    from pytest_autodeploy.metrics.result import Recorded

    Heading = tuple[str, Callable[[SideRecord], float | None]]

MOST_CHANGED = 20
MOST_NUMBERS = 10
MOST_CLASSES = 20
"""What is shown of long lists; the JSON has all of them."""


def accuracy_figures(result: Recorded) -> list[Figure]:
    """What the measurements do not say: paths, changed decisions, restarts of the board."""
    figures = []
    accuracy = result.accuracy
    if accuracy:
        paths = ", ".join(f"{path} {_value(side)}" for path, side in accuracy.pc.items())
        figures.append(Figure("Kernels of the PC", paths))
        if accuracy.task == "classification":
            figures.append(_changed_figure(accuracy))
        if restarts := accuracy.restarts:
            note = one_line("; ".join(restarts))
            figures.append(Figure("Restarts of the board", str(len(restarts)), note=note))
    return figures


def accuracy_parts(record: Recorded) -> dict[str, Any] | None:
    """What the template of the accuracy needs, None without any."""
    accuracy = record.accuracy
    if not accuracy:
        return None
    classes = accuracy.task == "classification"
    return {
        "text": one_line(accuracy.text),
        "source": record.board.source or "",
        "about": _about(accuracy),
        "sides": _sides(accuracy),
        "confusion": _confusion(accuracy) if classes else None,
        "confused": _confused(accuracy) if classes else [],
        "changed": _changed(accuracy.changed[:MOST_CHANGED]),
        "more": max(0, len(accuracy.changed) - MOST_CHANGED),
        "restarts": [one_line(text) for text in accuracy.restarts],
    }


def _changed_figure(accuracy: AccuracyRecord) -> Figure:
    samples = [str(each.sample) for each in accuracy.changed]
    shown = ", ".join(samples[:MOST_NUMBERS]) + (", ..." if len(samples) > MOST_NUMBERS else "")
    value = f"{len(samples)} of {accuracy.samples}"
    return Figure("Decisions changed", value, note=f"samples {shown}" if samples else "")


def _about(accuracy: AccuracyRecord) -> str:
    parts = [f"{accuracy.samples} samples: {accuracy.inputs}, {accuracy.labels}"]
    parts.append(f"output {accuracy.output}")
    if accuracy.top_k and accuracy.top_k > 1:
        parts.append(f"right when among the {accuracy.top_k} highest")
    if accuracy.threshold is not None:
        parts.append(f"class 1 above {accuracy.threshold}")
    elif accuracy.task == "classification":
        parts.append("of equal scores the lowest class")
    return ", ".join(one_line(part) for part in parts)


def _sides(accuracy: AccuracyRecord) -> list[Column]:
    pc = accuracy.pc
    names = [f"PC, {one_line(path)}{_role(path, accuracy)}" for path in pc]
    sides = [accuracy.board, *pc.values()]
    return [
        Column("Side", ["Board", *names]),
        *(
            Column(heading, [_number(value(side)) for side in sides], right=True)
            for heading, value in _figures_of(accuracy)
        ),
    ]


def _figures_of(accuracy: AccuracyRecord) -> tuple[Heading, Heading]:
    if accuracy.task == "classification":
        return ("Accuracy", lambda side: side.accuracy), ("Right", lambda side: side.correct)
    return ("RMSE", lambda side: side.rmse), ("R²", lambda side: side.r2)


def _role(path: str, accuracy: AccuracyRecord) -> str:
    other = f" of {one_line(accuracy.against)}" if accuracy.against else ""
    return f"{other} (nearest)" if path == accuracy.reference else other


def _confusion(accuracy: AccuracyRecord) -> dict[str, Any] | None:
    """Cells by label: the count, empty for 0, and whether the decision is right."""
    matrix = accuracy.confusion
    if matrix is None or len(matrix) > MOST_CLASSES:
        return None
    rows = [
        {
            "label": label,
            "cells": [
                {"text": count or "", "look": "" if not count else "ok" if here == label else "no"}
                for here, count in enumerate(row)
            ],
            "share": percent(row[label], sum(row)) if any(row) else "",
        }
        for label, row in enumerate(matrix)
    ]
    return {"classes": range(len(matrix)), "rows": rows}


def _confused(accuracy: AccuracyRecord) -> list[Column]:
    pairs = accuracy.confused
    if not pairs:
        return []
    names = ("Label", "Decision", "Samples")
    cells = [[_class(value) for value in column] for column in zip(*pairs, strict=True)]
    return [Column(name, each, right=True) for name, each in zip(names, cells, strict=True)]


def _changed(changed: Sequence[ChangedDecision]) -> list[Column]:
    if not changed:
        return []
    pc = [_decision(each.pc, each.pc_score) for each in changed]
    board = [_decision(each.board, each.board_score) for each in changed]
    return [
        Column("Sample", [str(each.sample) for each in changed], right=True),
        Column("Label", [str(each.label) for each in changed], right=True),
        Column("PC", pc, right=True),
        Column("Board", board, right=True),
    ]


def _decision(chosen: int | None, score: float | None) -> str:
    return "none, not a number" if chosen is None else f"{chosen} ({_number(score)})"


def _class(value: int) -> str:
    return "none" if value < 0 else str(value)


def _value(side: SideRecord) -> str:
    return _number(side.rmse if side.accuracy is None else side.accuracy)


def _number(value: float | None) -> str:
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{value:.4g}"
