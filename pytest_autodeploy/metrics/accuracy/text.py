"""Accuracy in words, for failures and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.accuracy.changed import changed_decisions
from pytest_autodeploy.session.labelled import Side

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison

MOST_CHANGED = 5
"""Changed decisions in a failure; the others are in the JSON."""


def headline(comparison: TaskComparison) -> str:
    """Both sides in one line."""
    board, pc = side_text(comparison.board), side_text(comparison.pc)
    text = f"{board} on the board, {pc} on the PC ({_pc(comparison)})"
    if comparison.are_classes:
        changed = len(comparison.changed)
        text += f", {changed} of {comparison.count} decisions changed"
    return text


def side_text(side: Side) -> str:
    """A side's figures, such as ``0.9722`` or ``RMSE 0.12, R² 0.93``."""
    if side.accuracy is not None:
        return f"{side.accuracy:.4f}"
    r2 = "" if side.r2 is None else f", R² {side.r2:.4g}"
    return f"RMSE {side.rmse:.4g}{r2}"


def side_lines(comparison: TaskComparison) -> list[str]:
    """The lines of a failure about both sides."""
    board, pc = (
        side_text(side) + (f" ({side.correct} of {comparison.count} samples)" if counted else "")
        for side in (comparison.board, comparison.pc)
        for counted in (comparison.are_classes,)
    )
    lines = [f"  board   {board}, {comparison.source}", f"  PC      {pc}, {_pc(comparison)}"]
    if restarts := comparison.run.restarts:
        lines.append(f"  the board was restarted at {'; '.join(restarts)}")
    return lines


def changed_lines(comparison: TaskComparison) -> list[str]:
    """The lines of a failure about the samples for which board and PC decide otherwise."""
    changed = changed_decisions(comparison)
    if not changed:
        return []
    shown = [
        f"    sample {each.sample}: label {each.label}, PC {_class(each.pc)}, "
        f"board {_class(each.board)}"
        for each in changed[:MOST_CHANGED]
    ]
    more = [f"    and {len(changed) - MOST_CHANGED} more"] if len(changed) > MOST_CHANGED else []
    return [f"  decisions that changed: {len(changed)} of {comparison.count}", *shown, *more]


def _class(decision: int | None) -> str:
    return "none, not a number" if decision is None else str(decision)


def _pc(comparison: TaskComparison) -> str:
    other = f" of {comparison.against}" if comparison.against else ""
    return f"{comparison.reference} kernels{other}"
