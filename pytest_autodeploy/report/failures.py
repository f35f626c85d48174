"""What failed of a result: its tests, and its limits that are red, each with all its names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import join_lines, one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.report.attempts import earlier_lines
from pytest_autodeploy.report.standing import failing, red_verdicts

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result
    from pytest_autodeploy.metrics.result_parts import ResultVerdict


def failing_lines(result: Result) -> list[str]:
    """A line and its first words per test that failed, then one per limit that is red."""
    lines = []
    for test in failing(result):
        first = next(iter(test.message.splitlines()), "")
        lines += [f"{test.outcome.upper()} {one_line(test.nodeid)}", f"  {one_line(first, 400)}"]
        lines += [f"  {line}" for line in earlier_lines(test.attempts)]
    return [*lines, *_limits(red_verdicts(result))]


def _limits(rows: list[ResultVerdict]) -> Iterator[str]:
    for row in rows:
        yield f"{row.status}  {one_line(row.limit)} by {one_line(row.origin)}: {_against(row)}"
        yield f"  in {one_line(row.test)}"


def _against(row: ResultVerdict) -> str:
    """The metric and what it was, or why nothing was held against the limit."""
    metric = row.metric.replace("_", " ")
    if (item := row.measurement) is None:
        lines = [line.strip() for line in row.text.splitlines() if line.strip()]
        return one_line(f"{metric}: {join_lines(lines[2:] or lines)}", 400)
    return f"{one_line(item.name.replace('_', ' '))} is {si(item.value, item.unit)}  {item.source}"
