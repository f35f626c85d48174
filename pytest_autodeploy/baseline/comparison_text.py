"""A comparison in words: for failures, the terminal and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits, si
from pytest_autodeploy.baseline.format import Metric
from pytest_autodeploy.metrics.comparison import Comparison, Row

MOST_LAYERS = 8
UPDATE = "--autodeploy-update-baseline"


def value_text(value: float | None, unit: str) -> str:
    """A value with its unit; empty where there is none."""
    if value is None:
        return ""
    if unit == "steps":
        return f"{value:.4g} step{'' if value == 1 else 's'}"
    if unit == "real":
        return f"{value:.3g}"
    return si(value, unit)


def repeats_text(metric: Metric) -> str:
    """What the repeats of a kept value are, such as ``50 repeats of 5 starts, 2 outliers``."""
    text = f"{metric.repeats} repeats"
    text += f" of {metric.starts} starts" if metric.starts > 1 else ""
    text += f", {metric.outliers} outliers" if metric.outliers else ""
    if metric.starts == 1 and metric.spread:
        text += ", how starts differ is not known"
    return text


def change_text(row: Row) -> str:
    """The change of a row, such as ``+12.8 %``, or its state where a layer is new or gone."""
    if row.baseline is None or row.now is None:
        return row.state
    return difference_text(row.baseline, row.now, row.unit)


def difference_text(before: float, now: float, unit: str) -> str:
    """The change of a value, such as ``+12.8 %``; without a percentage of what was 0."""
    change = now - before
    if change == 0:
        return "0"
    if before == 0:
        return f"+{value_text(now, unit)}" if change > 0 else value_text(now, unit)
    return f"{100 * change / abs(before):+.3g} %"


def allowed_text(row: Row) -> str:
    """What a row allows and why, such as ``5 %`` or ``10 us (floor)``."""
    if row.state in ("new", "gone"):
        return ""
    if row.by == "percentage" and row.baseline:
        return f"{100 * row.allowed / abs(row.baseline):.3g} %"
    why = "" if row.by == "percentage" else f" ({row.by})"
    if row.by in ("repeats", "starts") and row.baseline:
        return f"{100 * row.allowed / abs(row.baseline):.3g} %{why}"
    return f"{value_text(row.allowed, row.unit)}{why}"


def both_texts(row: Row) -> tuple[str, str]:
    """The baseline and the value now, to the byte where that is what differs."""
    return exact_texts(row.baseline, row.now, row.unit)


def exact_texts(before: float | None, now: float | None, unit: str) -> tuple[str, str]:
    """Two values as ``value_text``, but to the byte where that is what differs."""
    texts = (value_text(before, unit), value_text(now, unit))
    if unit == "B" and before != now and texts[0] == texts[1]:
        return f"{group_digits(before)} B", f"{group_digits(now)} B"
    return texts


def bounds_text(row: Row) -> str:
    """Between what the true change is, such as ``-2 to +13 %, threshold 5 %``."""
    if row.low is None or row.high is None:
        return change_text(row)
    if not row.baseline:
        bounds = f"{value_text(row.low, row.unit)} to {value_text(row.high, row.unit)}"
        return f"{bounds}, threshold {value_text(row.threshold, row.unit)}"
    low, high, most = (
        100 * value / abs(row.baseline) for value in (row.low, row.high, row.threshold)
    )
    return f"{low:+.3g} to {high:+.3g} %, threshold {most:.3g} %"


def rows_table(rows: Sequence[Row], heading: str = "metric") -> list[Column]:
    """The table of a failure: metric, baseline, now, change, allowed."""
    return [
        Column(heading, [one_line(row.name, 40) for row in rows]),
        Column("baseline", [both_texts(row)[0] for row in rows], right=True),
        Column("now", [both_texts(row)[1] for row in rows], right=True),
        Column("change", [change_text(row) for row in rows], right=True),
        Column("allowed", [allowed_text(row) for row in rows], right=True),
        Column("", ["" if row.state == "within" else row.state for row in rows]),
    ]


def layers_to_blame(comparison: Comparison) -> list[Row]:
    """The layers that account for a change for the worse, worst first."""
    slower = [
        row
        for row in comparison.layers
        if row.state in ("regression", "new", "cannot tell") or row.worse > row.allowed
    ]
    return sorted(slower, key=lambda row: -row.worse)


def headline(comparison: Comparison) -> str:
    """The comparison in one line, without the names of model and board."""
    state = comparison.state
    if state == "not comparable":
        return f"cannot be held against its baseline: {'; '.join(comparison.reasons)}"
    if state == "no baseline":
        what = ", ".join(comparison.missing) or _nothing_for_the_model(comparison)
        return f"no baseline for {what}; make one with {UPDATE}=new"
    if state == "within":
        return f"{_count(comparison)} within what its baseline allows"
    rows = _by_state(comparison, state)
    if state == "cannot tell":
        return _cannot_tell(rows)
    parts = [f"{one_line(row.name, 40)} {change_text(row)}" for row in rows[:3]]
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    if state == "improved":
        return f"improved: {', '.join(parts)}{more}: update the baseline? {UPDATE}"
    return f"worse than its baseline: {', '.join(parts)}{more}"


def _cannot_tell(rows: Sequence[Row]) -> str:
    parts = [
        f"{one_line(row.name, 40)} {bounds_text(row)}{f' ({row.note})' if row.note else ''}"
        for row in rows[:3]
    ]
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    return f"cannot tell: {'; '.join(parts)}{more}"


def _nothing_for_the_model(comparison: Comparison) -> str:
    near = ", ".join(one_line(name, 40) for name in comparison.reasons)
    return f"this model on this board{f' (there are some of {near})' if near else ''}"


def block(comparison: Comparison, declared: str, model_sha256: str) -> list[str]:
    """The lines of a failure below the first."""
    lines = [f"  declared {declared}", f"  baseline {origin(comparison, model_sha256)}"]
    if comparison.rows:
        lines += [f"  not comparable: {reason}" for reason in comparison.reasons]
        lines += [f"  no baseline for {name}" for name in comparison.missing]
        lines += [f"  {line}" for line in _pad(rows_table(comparison.rows))]
        lines += [f"  {row.name}: {row.note}" for row in comparison.rows if row.note]
    if comparison.graph:
        lines.append(f"  {comparison.graph}")
    return [*lines, *_layer_lines(comparison)]


def _layer_lines(comparison: Comparison) -> Iterator[str]:
    blamed = layers_to_blame(comparison)
    if not blamed:
        return
    yield "  layers that account for it, worst first"
    for line in _pad(rows_table(blamed[:MOST_LAYERS], "layer")):
        yield f"    {line}"
    if len(blamed) > MOST_LAYERS:
        yield f"    and {len(blamed) - MOST_LAYERS} more"


def origin(comparison: Comparison, model_sha256: str) -> str:
    """The file of a baseline, and whether the model is another than then."""
    file, before = comparison.file, comparison.baseline_sha256
    if not before:
        return file
    if comparison.model_changed:
        return f"{file}, of model {before[:12]}; the model changed, it is now {model_sha256[:12]}"
    return f"{file}, of the same model"


def _by_state(comparison: Comparison, state: str) -> list[Row]:
    rows = [row for row in comparison.rows if row.state == state]
    layers = [row for row in comparison.layers if row.state == state]
    return rows or sorted(layers, key=lambda row: -abs(row.worse))


def _count(comparison: Comparison) -> str:
    parts = [
        f"{len(rows)} {name}{'' if len(rows) == 1 else 's'}"
        for rows, name in ((comparison.rows, "metric"), (comparison.layers, "layer"))
        if rows
    ]
    return " and ".join(parts) or "nothing"


def _pad(columns: Sequence[Column]) -> list[str]:
    cells = [column.padded() for column in columns]
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]
