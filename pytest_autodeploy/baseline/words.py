"""A comparison in words, from its plain data: for failures, the terminal and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import grouped, si

Plain = Mapping[str, Any]

MOST_LAYERS = 8
UPDATE = "--autodeploy-update-baseline"


def value_text(row: Plain, key: str) -> str:
    """A value of a row with its unit; empty where there is none."""
    value, unit = row[key], row["unit"]
    if value is None:
        return ""
    if unit == "steps":
        return f"{value:.4g} step{'' if value == 1 else 's'}"
    if unit == "real":
        return f"{value:.3g}"
    return si(value, unit)


def change_text(row: Plain) -> str:
    """The change of a row, such as ``+12.8 %``; without a percentage of what was 0."""
    if row["baseline"] is None or row["now"] is None:
        return str(row["state"])
    change = row["now"] - row["baseline"]
    if change == 0:
        return "0"
    if row["baseline"] == 0:
        return f"+{value_text(row, 'now')}" if change > 0 else value_text(row, "now")
    return f"{100 * change / abs(row['baseline']):+.3g} %"


def allowed_text(row: Plain) -> str:
    """What a row allows and why, such as ``5 %`` or ``10 us (floor)``."""
    if row["state"] in ("new", "gone"):
        return ""
    if row["by"] == "percentage" and row["baseline"]:
        return f"{100 * row['allowed'] / abs(row['baseline']):.3g} %"
    why = "" if row["by"] == "percentage" else f" ({row['by']})"
    if row["by"] == "repeats" and row["baseline"]:
        return f"{100 * row['allowed'] / abs(row['baseline']):.3g} %{why}"
    return f"{value_text(row, 'allowed')}{why}"


def exact_text(row: Plain, key: str) -> str:
    """As ``value_text``, but to the byte where that is what differs."""
    both = {value_text(row, "baseline"), value_text(row, "now")}
    if row["unit"] == "B" and len(both) == 1 and row["baseline"] != row["now"]:
        return f"{grouped(row[key])} B"
    return value_text(row, key)


def rows_table(rows: Sequence[Plain], heading: str = "metric") -> list[Column]:
    """The table of a failure: metric, baseline, now, change, allowed."""
    return [
        Column(heading, [one_line(row["name"], 40) for row in rows]),
        Column("baseline", [exact_text(row, "baseline") for row in rows], right=True),
        Column("now", [exact_text(row, "now") for row in rows], right=True),
        Column("change", [change_text(row) for row in rows], right=True),
        Column("allowed", [allowed_text(row) for row in rows], right=True),
        Column("", ["" if row["state"] == "within" else row["state"] for row in rows]),
    ]


def layers_to_blame(comparison: Plain) -> list[Plain]:
    """The layers that account for a change for the worse, worst first."""
    slower = [
        row
        for row in comparison["layers"]
        if row["state"] in ("regression", "new") or row["worse"] > row["allowed"]
    ]
    return sorted(slower, key=lambda row: -row["worse"])


def headline(comparison: Plain) -> str:
    """The comparison in one line, without the names of model and board."""
    state = comparison["state"]
    if state == "not comparable":
        return f"cannot be held against its baseline: {'; '.join(comparison['reasons'])}"
    if state == "no baseline":
        what = ", ".join(comparison["missing"]) or "this model on this board"
        return f"no baseline for {what}; make one with {UPDATE}=new"
    if state == "within":
        return f"{_count(comparison)} within what its baseline allows"
    rows = _by_state(comparison, state)
    parts = [f"{one_line(row['name'], 40)} {change_text(row)}" for row in rows[:3]]
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    if state == "improved":
        return f"improved: {', '.join(parts)}{more}: update the baseline? {UPDATE}"
    return f"worse than its baseline: {', '.join(parts)}{more}"


def block(comparison: Plain, declared: str, model_sha256: str) -> list[str]:
    """The lines of a failure below the first."""
    lines = [f"  declared {declared}", f"  baseline {origin(comparison, model_sha256)}"]
    if comparison["rows"]:
        lines += [f"  not comparable: {reason}" for reason in comparison["reasons"]]
        lines += [f"  no baseline for {name}" for name in comparison["missing"]]
        lines += [f"  {line}" for line in _padded(rows_table(comparison["rows"]))]
    if comparison["graph"]:
        lines.append(f"  {comparison['graph']}")
    return [*lines, *_layer_lines(comparison)]


def _layer_lines(comparison: Plain) -> Iterator[str]:
    blamed = layers_to_blame(comparison)
    if not blamed:
        return
    yield "  layers that account for it, worst first"
    for line in _padded(rows_table(blamed[:MOST_LAYERS], "layer")):
        yield f"    {line}"
    if len(blamed) > MOST_LAYERS:
        yield f"    and {len(blamed) - MOST_LAYERS} more"


def origin(comparison: Plain, model_sha256: str) -> str:
    """The file of a baseline, and whether the model is another than then."""
    file, before = comparison["file"], comparison["baseline_sha256"]
    if not before:
        return str(file)
    if comparison["model_changed"]:
        return f"{file}, of model {before[:12]}; the model changed, it is now {model_sha256[:12]}"
    return f"{file}, of the same model"


def _by_state(comparison: Plain, state: str) -> list[Plain]:
    rows = [row for row in comparison["rows"] if row["state"] == state]
    layers = [row for row in comparison["layers"] if row["state"] == state]
    return rows or sorted(layers, key=lambda row: -abs(row["worse"]))


def _count(comparison: Plain) -> str:
    parts = [
        f"{len(comparison[key])} {name}{'' if len(comparison[key]) == 1 else 's'}"
        for key, name in (("rows", "metric"), ("layers", "layer"))
        if comparison[key]
    ]
    return " and ".join(parts) or "nothing"


def _padded(columns: Sequence[Column]) -> list[str]:
    cells = [column.padded() for column in columns]
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]
