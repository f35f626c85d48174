"""The table of a run: one row for each model on each board, as typed cells for every report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.baseline.comparison_text import value_text
from pytest_autodeploy.report.change import change_cell
from pytest_autodeploy.report.figures import latency_of
from pytest_autodeploy.report.standing import Standing, standing

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.metrics.result import Result


@dataclass(frozen=True)
class Cell:
    """A figure in words and its source; both empty where nothing was measured."""

    text: str = ""
    source: str = ""


@dataclass(frozen=True)
class RunRow:
    """A model on a board; ``source`` is that of the board's figures, ``board`` names its clock."""

    model: str
    board: str
    kind: str
    source: str
    latency: Cell
    energy: Cell
    arena: Cell
    agreement: Cell
    accuracy: Cell
    change: str
    standing: Standing


def run_rows(results: Sequence[Result]) -> list[RunRow]:
    """A row per result, in their order."""
    return [run_row(result) for result in results]


def run_row(result: Result) -> RunRow:
    """The row of a result."""
    model, board = result.model, result.board
    by_name = {item.name: item for item in result.measurements}
    mode = (board.clock or "HP").lower()
    energy = by_name.get(f"energy_{mode}") or by_name.get("energy_hp") or by_name.get("energy_lp")
    clock = " LP" if board.clock == "LP" else ""
    top = by_name.get("accuracy") or by_name.get("r2")
    return RunRow(
        model=one_line(model.id or model.name or "unknown model"),
        board=f"{one_line(board.label)}{clock}" if board.id else "no board",
        kind=board.kind or "",
        source=board.source or "",
        latency=_cell(latency_of(result) or by_name.get("npu_time")),
        energy=_cell(energy),
        arena=_cell(by_name.get("arena_used") or by_name.get("npu_sram")),
        agreement=agreement_cell(result),
        accuracy=_cell(top),
        change=change_cell(result.comparison),
        standing=standing(result),
    )


def agreement_cell(result: Result) -> Cell:
    """How far outputs lie from the nearest right answer: ``exact``, or a distance."""
    agreement = result.agreement
    if agreement is None:
        return Cell()
    distance = next((item for item in result.measurements if item.name == "output_distance"), None)
    source = distance.source if distance else result.board.source or ""
    if agreement.passed and agreement.exact:
        return Cell("exact", source)
    if distance is None:
        return Cell("agree" if agreement.passed else "differ", source)
    return Cell(value_text(distance.value, distance.unit), source)


def _cell(item: Measurement | None) -> Cell:
    return Cell(si(item.value, item.unit), item.source) if item else Cell()
