"""Comparisons and trends for pytest-html: fragments in which everything from outside is escaped.

They use the style of the board reports, which stands once in the summary of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.comparison_text import (
    allowed_text,
    both_texts,
    change_text,
    difference_text,
    headline,
    origin,
    value_text,
)
from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.baseline.measured import Measured, title_of_one
from pytest_autodeploy.baseline.trend import Trend, trends
from pytest_autodeploy.limits.regression import NoRegression

if TYPE_CHECKING:
    from markupsafe import Markup

    from pytest_autodeploy.metrics.comparison import Row
    from pytest_autodeploy.metrics.record import TestRecord

_MOST_LAYERS = 40
_BAR_WIDTH = 160
_WIDTH, _HEIGHT, _EDGE = 260, 44, 6
_TONES = {"within": "pass", "improved": "pass", "regression": "FAIL", "not comparable": "FAIL"}


def comparison_html(record: TestRecord) -> str:
    """The comparison of a record: tables of metrics and layers with bars; empty without one."""
    comparison = record.comparison
    if not comparison:
        return ""
    layers = sorted(comparison.layers, key=lambda row: -row.worse)[:_MOST_LAYERS]
    parts = (("Metric", comparison.rows), ("Layer", layers))
    return render_html(
        "baseline/comparison",
        tone=_TONES.get(comparison.state, "no"),
        headline=headline(comparison),
        origin=origin(comparison, record.model.sha256 or ""),
        tables=[{"heading": name, "rows": _rows(name, rows)} for name, rows in parts if rows],
        graph=comparison.graph,
    )


def trends_html(
    history: History,
    results: Iterable[Measured],
    limit: NoRegression,
    of_pull_request: str = "",
) -> str:
    """The trends of each result; empty without any. Raises HistoryError.

    ``of_pull_request`` is the one that this run is for.
    """
    groups = []
    for result in results:
        found = trends(history, result, limit, of_pull_request)
        if found:
            name = f"{title_of_one(result)} at {result.board.clock}"
            groups.append(
                {
                    "title": name,
                    "runs": max(len(trend.points) for trend in found),
                    "rows": [_trend(trend) for trend in found],
                }
            )
    return render_html("baseline/trends", groups=groups)


def _rows(heading: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows with the widths of their bars: metrics each on its own scale, layers on one."""
    longest = max(max(row.baseline or 0, row.now or 0) for row in rows)
    shown = []
    for row in rows:
        own = max(row.baseline or 0, row.now or 0)
        scale = (longest if heading == "Layer" else own) or 1
        shown.append(
            {
                "name": one_line(row.name, 40),
                "baseline": both_texts(row)[0],
                "now": both_texts(row)[1],
                "before_width": round(_BAR_WIDTH * (row.baseline or 0) / scale),
                "now_width": round(_BAR_WIDTH * (row.now or 0) / scale),
                "change": change_text(row),
                "allowed": allowed_text(row),
                "state": row.state,
                "tone": _TONES.get(row.state, "no"),
            }
        )
    return shown


def _trend(trend: Trend) -> dict[str, Any]:
    values = [point.value for point in trend.points]
    low, high = min(values), max(values)
    step = (_WIDTH - 2 * _EDGE) / max(len(values) - 1, 1)
    inner = _HEIGHT - 2 * _EDGE
    places = [
        (
            round(_EDGE + number * step, 1),
            round(_HEIGHT - _EDGE - inner * (value - low) / (high - low), 1)
            if high > low
            else _HEIGHT / 2,
        )
        for number, value in enumerate(values)
    ]
    texts = [value_text(value, trend.unit) for value in values]
    return {
        "metric": trend.metric,
        "title": f"{trend.metric}: {texts[0]} to {texts[-1]}, {len(texts)} runs",
        "line": " ".join(f"{x},{y}" for x, y in places),
        "dots": _dots(trend, places, texts),
        "first": texts[0],
        "last": texts[-1],
        "drift": trend.drift_text,
        "drift_tone": "FAIL" if trend.worse else "pass",
        "jumps": [_jump(trend, number) for number in trend.jumps],
    }


def _dots(trend: Trend, places: Sequence[tuple[float, float]], texts: Sequence[str]) -> Markup:
    """The points of a line; a page may have thousands, which a template's loop is slow with."""
    from markupsafe import Markup, escape

    dots = []
    for number, (x, y) in enumerate(places):
        jumped = number in trend.jumps
        tone, r = (_jump_tone(trend, number), 4) if jumped else ("point", 2)
        title = escape(f"{texts[number]}, {_commit(trend, number)}, {_when(trend, number)}")
        dots.append(f"<circle class={tone} cx={x} cy={y} r={r}><title>{title}</title></circle>")
    return Markup("".join(dots))  # noqa: S704  # what is from outside is in the title


def _jump(trend: Trend, number: int) -> dict[str, str]:
    before, value = trend.points[number - 1].value, trend.points[number].value
    return {
        "change": difference_text(before, value, trend.unit),
        "commit": _commit(trend, number),
        "when": _when(trend, number),
        "tone": "FAIL" if _jump_tone(trend, number) == "worse" else "pass",
    }


def _jump_tone(trend: Trend, number: int) -> str:
    rose = trend.points[number].value > trend.points[number - 1].value
    return "better" if rose == (trend.better == "higher") else "worse"


def _commit(trend: Trend, number: int) -> str:
    point = trend.points[number]
    return (one_line(point.commit, 40)[:12] or "unknown commit") + "+" * point.changed


def _when(trend: Trend, number: int) -> str:
    return one_line(trend.points[number].started, 40)[:16].replace("T", " ")
