"""The table of the run for the HTML report; what models say is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.metrics.ledger import RED
from pytest_autodeploy.report.agreement import agreement_text
from pytest_autodeploy.report.anchors import card_id
from pytest_autodeploy.report.figures import latency_of
from pytest_autodeploy.report.pack import pack
from pytest_autodeploy.report.standing import standing
from pytest_autodeploy.report.verdicts import verdict_rows

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result

MOST_ROWS = 50


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
        "board": one_line(result.board.label or "no board"),
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
