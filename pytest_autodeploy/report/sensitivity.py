"""What the inputs would notice: a line, and a row for each operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.limits.sensitivity import CHANGES

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.diagnosis import ChangeRecord, SensitivityRecord
    from pytest_autodeploy.metrics.result import Recorded

_HEADINGS = ("Off by 64 steps", "Some by 1 step", "One channel")


def sensitivity_figures(result: Recorded) -> list[Figure]:
    """One line, if it was worked out."""
    found = result.sensitivity
    if found is None:
        return []
    head, _, rest = found.text.partition("; ")
    return [Figure("Sensitivity of inputs", one_line(head, 200), "modelled", one_line(rest, 300))]


def sensitivity_about(found: SensitivityRecord) -> str:
    """Inputs, tolerance and engine in a line."""
    parts = [
        f"{found.count} inferences ({found.inputs})",
        f"tolerance {found.tolerance}",
        found.engine,
    ]
    if found.doubtful:
        parts.append(f"beyond the tolerance with right operators: {list(found.doubtful)}")
    return one_line(", ".join(parts), 400)


def sensitivity_columns(found: SensitivityRecord) -> list[Column]:
    """A row per operator: which changes of it an inference notices."""
    operators = found.operators
    labels = [one_line(f"{each.position} {each.operator}", 40) for each in operators]
    columns = [Column("Operator", labels)]
    for change, heading in zip(CHANGES, _HEADINGS, strict=True):
        cells = [
            _cell(each.changes.get(change)) if not each.unknown else "not known"
            for each in operators
        ]
        columns.append(Column(heading, cells))
    if any(each.unknown for each in operators):
        columns.append(Column("Why", [one_line(each.unknown, 120) for each in operators]))
    return columns


def _cell(found: ChangeRecord | None) -> str:
    if found is None:
        return ""
    if not found.seen:
        return "not noticed"
    if not found.noticed:
        return f"{found.seen} of {found.variants}"
    return f"noticed, first by inference {found.first}"
