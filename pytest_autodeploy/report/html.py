"""Cells, details and summary for pytest-html; everything that comes from a model is escaped.

pytest-html keeps the details of all tests in one HTML attribute, where each quote costs six bytes:
the templates leave out quotes where they can, and the style stands once, in the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import lines, one_line
from pytest_autodeploy.base.units import percent, si
from pytest_autodeploy.metrics.ledger import RED
from pytest_autodeploy.profile.layer_csv import csv_text, static_csv_text
from pytest_autodeploy.report.accuracy import accuracy_parts
from pytest_autodeploy.report.agreement import (
    agreement_columns,
    agreement_figures,
    agreement_words,
)
from pytest_autodeploy.report.artifacts import artifact_figures, footprint_columns
from pytest_autodeploy.report.baseline_html import comparison_html
from pytest_autodeploy.report.energy import waveforms
from pytest_autodeploy.report.explanation import explanation_parts
from pytest_autodeploy.report.figures import figures, latency_of, ran_on
from pytest_autodeploy.report.layers import (
    LayerRow,
    layer_columns,
    layer_rows,
    longest,
    static_rows,
    total_us,
)
from pytest_autodeploy.report.results import csv_name
from pytest_autodeploy.report.terminal import title
from pytest_autodeploy.report.verdicts import verdict_rows

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.facts import ModelFacts
    from pytest_autodeploy.metrics.result import Result

_COLUMNS = ("Model", "Board", "Latency", "Agreement")
HIDE_COLUMNS = "<style>{}{{display:none}}</style>".format(
    ",".join(f"th[data-column-type={name.lower()}],td.col-{name.lower()}" for name in _COLUMNS)
)
"""For a report without any result: pytest-html asks for columns before it is known."""

_MOST_LAYERS = 40
_BAR_WIDTH = 230


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
        agreement=agreement_words(agreement) if agreement else "",
        passed=bool(agreement and agreement.passed),
    ).split("\n")


def id_cell(cell: str, nodeid: str) -> str:
    """pytest-html's own cell of the test id, which it does not escape; ids hold model names."""
    # The cell is HTML already; only the id in it is not.
    return cell.replace(nodeid, escape(nodeid))


def extra_html(record: TestRecord) -> str:
    """The details of a test as one fragment of HTML; parts that it does not have are left out.

    The layers are those of the profile, else the static ones of the model.
    The link to the CSV carries the whole file, so it works from any report.
    """
    from markupsafe import Markup

    agreement = record.agreement
    return render_html(
        "html/test",
        title=title(record),
        board_source=record.board.source or "",
        ran_on=ran_on(record.board),
        message=lines(record.message),
        attempts=[lines(attempt.message, 1) for attempt in record.attempts],
        model_facts=_model_facts(record.model),
        figures=figures(record),
        agreement=agreement_figures(agreement) if agreement else [],
        agreement_columns=agreement_columns(agreement) if agreement else [],
        agreement_words=agreement_words(agreement) if agreement else "",
        passed=bool(agreement and agreement.passed),
        accuracy=accuracy_parts(record),
        explanation=explanation_parts(record),
        verdicts=verdict_rows(record),
        artifacts=artifact_figures(record.artifacts),
        footprint=footprint_columns(record.artifacts),
        comparison=Markup(comparison_html(record)),  # noqa: S704  # escaped by its template
        waveforms=waveforms(record),
        **_layer_parts(record),
    )


def summary_html(results: Sequence[Result]) -> str:
    """Style, which estimates need too, and the table of the run, one row per merged result."""
    rows = [_summary_row(result) for result in results]
    return render_html("html/summary", rows=rows, accuracy=any(row["accuracy"] for row in rows))


def _layer_parts(record: TestRecord) -> dict[str, Any]:
    profile, static = record.profile, record.model.layers
    rows = layer_rows(profile.layers) if profile else static_rows(static)
    if not rows:
        return {"columns": [], "bars": [], "csv": ""}
    whole = total_us(rows)
    shown = longest(rows, _MOST_LAYERS)
    source = profile.source if profile else "estimated"
    csv = csv_text(profile) if profile else static_csv_text(static)
    return {
        "columns": layer_columns(shown, source, whole),
        "bars": _bars(shown, whole) if profile else [],
        "run": profile.run if profile else "",
        "layer_source": source,
        "csv": f"data:text/csv;charset=utf-8,{quote(csv, safe=',')}",
        "csv_name": csv_name(record.model),
    }


def _bars(rows: Sequence[LayerRow], whole: float) -> list[dict[str, Any]]:
    times = [row.us or 0.0 for row in rows]
    longest_us = max(times)
    return [
        {
            "label": one_line(f"{row.number} {row.tag}", 24),
            "title": one_line(f"{row.number} {row.tag}"),
            "width": round(_BAR_WIDTH * us / longest_us) if longest_us else 0,
            "value": f"{si(us, 'us')}, {percent(us, whole)}",
        }
        for row, us in zip(rows, times, strict=True)
    ]


def _model_facts(model: ModelFacts) -> str:
    """What the file says, in words, as far as it is known."""
    parts = [model.path]
    if model.parameters is not None:
        parts.append(f"{si(model.parameters, '1')} parameters")
    if model.sha256:
        parts.append(f"SHA-256 {model.sha256}")
    return ", ".join(one_line(part) for part in parts if part)


def _summary_row(result: Result) -> dict[str, Any]:
    outcomes = [row.outcome for row in verdict_rows(result)]
    tests = [test.outcome for test in result.tests]
    agreement, accuracy = result.agreement, result.accuracy
    return {
        "model": one_line(result.model.id or "unknown model"),
        "board": one_line(result.board.id or "no board"),
        "figures": _summary_figures(result),
        "agreement": agreement_words(agreement) if agreement else "",
        "agrees": bool(agreement and agreement.passed),
        "accuracy": one_line(accuracy.words) if accuracy else "",
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
