"""The cells of a test in the table of pytest-html; what models say is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.report.agreement import agreement_text
from pytest_autodeploy.report.anchors import row_anchor
from pytest_autodeploy.report.figures import latency_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord

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
