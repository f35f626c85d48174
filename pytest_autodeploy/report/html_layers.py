"""The layers of a test for pytest-html: table, bars, and the whole CSV in a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import percent, si
from pytest_autodeploy.profile.layer_csv import csv_text
from pytest_autodeploy.report.layers import (
    LayerRow,
    layer_columns,
    layer_rows,
    longest,
    static_rows,
    total_us,
)
from pytest_autodeploy.report.results import csv_name

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.profile.records import LayerProfile

_MOST_LAYERS = 40
_BAR_WIDTH = 230


def layer_parts(record: TestRecord) -> dict[str, Any]:
    """What the template shows of the layers: those of the profile, else the static ones."""
    profile, static = record.profile, record.model.layers
    rows = layer_rows(profile.layers) if profile else static_rows(static)
    if not rows:
        return {"columns": [], "bars": [], "csv": "", "first_columns": []}
    whole = total_us(rows)
    shown = longest(rows, _MOST_LAYERS)
    source = profile.source if profile else "estimated"
    return {
        "columns": layer_columns(shown, source, whole),
        "bars": _bars(shown, whole) if profile else [],
        "run": _run_text(profile) if profile else "",
        "layer_source": source,
        "csv": _link(profile, record.board.recorded) if profile else "",
        "csv_name": csv_name(record.model),
        "first_columns": _first_columns(record.first_profile) if record.first_profile else [],
    }


def _link(profile: LayerProfile, recorded: str | None) -> str:
    return f"data:text/csv;charset=utf-8,{quote(csv_text(profile, recorded), safe=',')}"


def _first_columns(profile: LayerProfile) -> list[Column]:
    rows = layer_rows(profile.layers)
    return layer_columns(longest(rows, _MOST_LAYERS), profile.source, total_us(rows))


def _run_text(profile: LayerProfile) -> str:
    repeated = f" (median of {profile.repeats})" if profile.repeats > 1 else ""
    return f"{profile.run} inference{repeated}"


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
