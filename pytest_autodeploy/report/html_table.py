"""The cells of a test and the table of the run for pytest-html; what models say is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.metrics.ledger import RED
from pytest_autodeploy.report.agreement import agreement_text
from pytest_autodeploy.report.anchors import card_id, row_anchor
from pytest_autodeploy.report.figures import latency_of
from pytest_autodeploy.report.pack import pack
from pytest_autodeploy.report.standing import standing
from pytest_autodeploy.report.verdicts import verdict_rows

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.result import Result

MOST_ROWS = 50
_COLUMNS = ("Model", "Board", "Latency", "Agreement")
HIDE_COLUMNS = "<style>{}{{display:none}}</style>".format(
    ",".join(f"th[data-column-type={name.lower()}],td.col-{name.lower()}" for name in _COLUMNS)
)
"""For a report without any result: pytest-html asks for columns before it is known."""


def header_cells() -> list[str]:
    """The four header cells, in the order of ``columns``."""
    return [
        f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in _COLUMNS
    ]


def columns(record: TestRecord | None) -> list[str]:
    """The four cells of a test: model, board, latency, agreement; empty without a record."""
    latency = latency_of(record) if record else None
    agreement = record.agreement if record else None
    return render_html(
        "html/cells",
        model=one_line(record.model.id) if record else "",
        board=one_line(record.board.id or "") if record else "",
        latency=si(latency.value, latency.unit) if latency else "",
        source=latency.source if latency else "",
        sort_key=f"{latency.value:020.3f}" if latency else "",
        agreement=agreement_text(agreement) if agreement else "",
        passed=bool(agreement and agreement.passed),
    ).split("\n")


def id_cell(cell: str, nodeid: str) -> str:
    """pytest-html's own cell of the test id, which it does not escape; ids hold model names."""
    # The cell is HTML already; only the id in it is not.
    return cell.replace(nodeid, escape(nodeid))


def anchor(cell: str, nodeid: str) -> str:
    """A cell that the link of a card leads to."""
    return cell.replace("<td", f"<td id={row_anchor(nodeid)}", 1)


def summary_html(results: Sequence[Result]) -> str:
    """Style, which estimates need too, and the table of the run, one row per merged result.

    Of more than ``MOST_ROWS`` the red ones and the first others are shown, the rest is packed: a
    browser needs a second for the layout of 800 rows.
    """
    if len(results) > MOST_ROWS:
        results = sorted(results, key=lambda result: not standing(result).bad)
    shown, folded = results[:MOST_ROWS], results[MOST_ROWS:]
    accuracy = any(result.accuracy for result in results)
    return render_html(
        "html/summary",
        table=_rows_html(shown, accuracy=accuracy) if shown else "",
        shown=len(shown),
        folded=len(folded),
        block=pack([_rows_html(folded, accuracy=accuracy)], most_plain=0).block if folded else "",
    )


def _rows_html(results: Sequence[Result], *, accuracy: bool) -> str:
    rows = [_summary_row(result) for result in results]
    return render_html("html/rows", rows=rows, accuracy=accuracy)


def _summary_row(result: Result) -> dict[str, Any]:
    outcomes = [row.outcome for row in verdict_rows(result)]
    tests = [test.outcome for test in result.tests]
    agreement, accuracy = result.agreement, result.accuracy
    return {
        "model": one_line(result.model.id or "unknown model"),
        "board": one_line(result.board.id or "no board"),
        "card": card_id(result.model.id, result.board.id or "", result.board.clock or ""),
        "figures": _summary_figures(result),
        "agreement": agreement_text(agreement) if agreement else "",
        "agrees": bool(agreement and agreement.passed),
        "accuracy": one_line(accuracy.text) if accuracy else "",
        "source": result.board.source or "",
        "limits": f"{outcomes.count('pass')} passed" if "pass" in outcomes else "",
        "failed_limits": sum(outcomes.count(red) for red in RED),
        "tests": ", ".join(f"{tests.count(name)} {name}" for name in dict.fromkeys(tests)),
    }


def _summary_figures(result: Result) -> list[Figure]:
    by_name = {item.name: item for item in result.measurements}
    items = [latency_of(result), *(by_name.get(n) for n in ("macs", "arena_used", "model_size"))]
    shown = [
        Figure("", si(item.value, item.unit), item.source) if item else Figure("", "")
        for item in items
    ]
    if result.model.unknown_operators and "macs" not in by_name:
        shown[1] = Figure("", "unknown")
    return shown
