"""The summary of a run as Markdown, such as GitHub shows for a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.comparison_text import (
    MOST_LAYERS,
    headline,
    layers_to_blame,
    rows_table,
)
from pytest_autodeploy.report.attempts import earlier_lines, flaky_lines
from pytest_autodeploy.report.figures import agreement_figure, figures, title
from pytest_autodeploy.report.sensitivity import sensitivity_figures

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.comparison import Comparison
    from pytest_autodeploy.metrics.result import Result

MOST_FAILURES = 20


def summary_markdown(
    results: Sequence[Result], updates: Sequence[str] = (), told: Sequence[str] = ()
) -> str:
    """One section per merged result: figures, comparison, failures; then what was updated.

    ``told`` comes first.
    """
    lines = ["## pytest-autodeploy", ""]
    if told:
        lines += [*(f"- {_escape(line)}" for line in told), ""]
    for result in results:
        lines += [*_result(result), ""]
    if updates:
        lines += ["### Baselines", "", *(f"- {_escape(line)}" for line in updates), ""]
    return "\n".join(lines)


def _result(result: Result) -> Iterator[str]:
    failed = [test for test in result.tests if test.outcome in ("failed", "error")]
    measured = any(test.outcome == "passed" for test in result.tests)
    mark = "❌" if failed else "✅" if measured else "⚠️ nothing was measured:"
    yield f"### {mark} {_escape(title(result))}"
    yield ""
    shown = figures(result)
    if result.agreement:
        shown.append(agreement_figure(result, result.agreement))
    shown += sensitivity_figures(result)
    if shown:
        yield from _table(
            [
                Column("figure", [figure.label for figure in shown]),
                Column("value", [figure.value for figure in shown], right=True),
                Column("exact", [figure.exact for figure in shown], right=True),
                Column("source", [figure.source for figure in shown]),
            ]
        )
    yield from _comparison(result.comparison)
    for test in failed[:MOST_FAILURES]:
        first = (test.message.splitlines() or [""])[0]
        yield f"- **{_escape(test.nodeid)}**: {_escape(one_line(first, 400))}"
        for line in earlier_lines(test.attempts):
            yield f"  - {_escape(line)}"
    if len(failed) > MOST_FAILURES:
        yield f"- and {len(failed) - MOST_FAILURES} more"
    for line in flaky_lines(result):
        yield f"- {_escape(line)}"


def _comparison(comparison: Comparison | None) -> Iterator[str]:
    if not comparison:
        return
    yield ""
    yield f"**Baseline:** {_escape(headline(comparison))}"
    yield ""
    if comparison.rows:
        yield from _table(rows_table(comparison.rows))
    if comparison.graph:
        yield f"{_escape(comparison.graph)}"
        yield ""
    if blamed := layers_to_blame(comparison)[:MOST_LAYERS]:
        yield from _table(rows_table(blamed, "layer"))


def _table(columns: Sequence[Column]) -> Iterator[str]:
    yield f"| {' | '.join(column.heading for column in columns)} |"
    yield f"|{'|'.join('---:' if column.right else '---' for column in columns)}|"
    for row in zip(*(column.cells for column in columns), strict=True):
        yield f"| {' | '.join(map(_escape, row))} |"
    yield ""


def _escape(text: str) -> str:
    """Text from outside, in which nothing is Markdown or HTML."""
    marks = {mark: f"\\{mark}" for mark in "\\`*_[]|#!~"}
    html = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return "".join((marks | html).get(char, char) for char in one_line(text, 400))
