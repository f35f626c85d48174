"""The health of boards over the runs of a history, as a table for every report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.baseline.history_uses import BoardHealth


def health_columns(boards: Sequence[BoardHealth]) -> list[Column]:
    """A row per board; that of clocks only where one was measured."""
    clocks = [
        Column("Clock off by", [_ppm(each.clock_ppm) for each in boards], right=True),
        Column("Drift", [_ppm(each.clock_drift_ppm) for each in boards], right=True),
    ]
    return [
        Column("Board", [_named(each) for each in boards]),
        Column("Runs", [f"{each.runs:,}" for each in boards], right=True),
        Column("Flashes", [f"{each.flashes:,}" for each in boards], right=True),
        Column("Breaks", [_breaks(each) for each in boards], right=True),
        Column("Retries", [f"{each.retries:,}" for each in boards], right=True),
        Column("Sent again", [f"{each.retransmissions:,}" for each in boards], right=True),
        *(column for column in clocks if any(column.cells)),
        Column("Last run", [_day(each.last) for each in boards]),
    ]


def health_html(path: Path) -> str:
    """The section of the HTML report, folded; empty without a board. Raises HistoryError."""
    boards = History(path).health()
    broken = sum(1 for each in boards if each.breaks)
    return render_html("html/health", columns=health_columns(boards), boards=boards, broken=broken)


def _named(board: BoardHealth) -> str:
    """What tells the board apart, and what it is."""
    of = [one_line(board.board)] if board.label != board.board else []
    of += [one_line(board.serial)] if board.name and board.serial else []
    of += [f"on {one_line(board.host)}"] if board.host else []
    return f"{one_line(board.label)} ({', '.join(of)})" if of else one_line(board.label)


def _breaks(board: BoardHealth) -> str:
    if not board.breaks:
        return "0"
    runs = "1 run" if board.broke_in == 1 else f"{board.broke_in:,} runs"
    return f"{board.breaks:,} in {runs}, last {_day(board.broke_last)}"


def _ppm(value: float | None) -> str:
    return "" if value is None else f"{value:+,.0f} ppm"


def _day(started: str) -> str:
    return one_line(started, 40)[:10]
