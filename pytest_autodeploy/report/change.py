"""The change of a result to its baseline in a few letters, for a cell of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.baseline.comparison_text import change_text

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.comparison import Comparison, Row


def change_cell(comparison: Comparison | None) -> str:
    """The change that says most, such as ``+12.8 %``; the state where there is no such number.

    That of the row which decides the state, which is named unless it is the latency's.
    """
    if comparison is None:
        return ""
    state = comparison.state
    if state in ("not comparable", "cannot tell", "no baseline"):
        return state
    rows = [row for row in comparison.rows if row.state == state]
    if not rows:
        return f"{state} by layer" if comparison.layers else state
    row = _most_telling(rows)
    name = "" if row.name == "latency_median" else f"{row.name.replace('_', ' ')} "
    return f"{name}{change_text(row)}"


def _most_telling(rows: list[Row]) -> Row:
    latency = next((row for row in rows if row.name == "latency_median"), None)
    if latency and latency.state == "within":
        return latency
    return max(rows, key=lambda row: abs(row.worse) / (abs(row.baseline or 0) or 1))
