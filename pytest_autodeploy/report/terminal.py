"""The terminal's summary: one section per model and board."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.base.text import join_lines, one_line
from pytest_autodeploy.report.accuracy import accuracy_figures
from pytest_autodeploy.report.artifacts import artifact_figures, footprint_lines
from pytest_autodeploy.report.attempts import earlier_lines, flaky_lines
from pytest_autodeploy.report.explanation import compared_figure
from pytest_autodeploy.report.figures import agreement_figure, figures, ran_on, title
from pytest_autodeploy.report.layers import layer_lines
from pytest_autodeploy.report.sensitivity import sensitivity_figures
from pytest_autodeploy.report.verdicts import VerdictRow, verdict_rows

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result

_VALUE_WIDTH = 10


def summary_lines(
    result: Result, *, output: str = "", verbose: bool = False, width: int = 80
) -> tuple[str, list[str]]:
    """Title and lines of the section of a merged result.

    ``output`` is the results folder as the user knows it; ``verbose`` adds the layer table;
    remarks that do not fit into ``width`` columns go on a line of their own.
    """
    shown = figures(result)
    if result.agreement:
        shown.append(agreement_figure(result, result.agreement))
    shown += sensitivity_figures(result)
    if compared := compared_figure(result):
        shown.append(compared)
    shown += accuracy_figures(result)
    shown += artifact_figures(result.artifacts, output)
    lines = _figure_lines(result, shown, output, width) if shown else _failure_lines(result)
    lines += _verdict_lines(result)
    lines += flaky_lines(result)
    lines += footprint_lines(result.artifacts)
    if verbose:
        for profile in filter(None, (result.first_profile, result.profile)):
            lines += ["", *layer_lines(profile)]
    return title(result), lines


def _figure_lines(result: Result, measured: list[Figure], output: str, width: int) -> list[str]:
    shown = list(measured)
    if board := ran_on(result.board):
        shown.insert(0, Figure("Ran on", board))
    files = result.files
    for label, path in (
        ("Per-layer statistics file", files.csv),
        ("… of the first inference", files.first_csv),
        ("Characterisation", files.characterization),
        ("Result file", files.json),
    ):
        if path:
            shown.append(Figure(label, f"{output}/{path}" if output else path))
    return figure_lines(shown, width)


def figure_lines(shown: Sequence[Figure], width: int) -> list[str]:
    """Figures below each other; a remark that does not fit gets a line of its own."""
    label_width = max(len(figure.label) for figure in shown) + 2
    lines: list[str] = []
    for figure in shown:
        value = figure.value
        if figure.source:
            value = f"{value:<{_VALUE_WIDTH}}  {figure.source}"
        line = f"{figure.label:<{label_width}}{value}"
        lines += _with_remark(line, figure.remark, label_width, width)
    return lines


def _with_remark(line: str, remark: str, indent: int, width: int) -> list[str]:
    if not remark:
        return [line]
    joined = f"{line}  {remark}"
    return [joined] if len(joined) <= width else [line, f"{' ' * indent}{remark}"]


def _verdict_lines(result: Result) -> list[str]:
    """The limits by test, each with its metric; what several tests repeat stands at the first."""
    by_look = {
        (row.limit, row.metric, row.outcome, row.value, row.source, row.origin): row
        for row in reversed(verdict_rows(result))
    }
    rows = list(reversed(by_look.values()))
    columns = [
        Column("Limit", [row.limit.removesuffix(f": {row.metric}") for row in rows]),
        Column("Metric", [row.metric for row in rows]),
        Column("Verdict", [row.outcome for row in rows]),
        Column("Value", [row.value for row in rows], right=True),
        Column("Source", [row.source for row in rows]),
        Column("Set by", [row.origin for row in rows]),
    ]
    lines = _by_test(rows, table(columns)) if rows else []
    without_value = [row for row in rows if row.outcome != "pass" and not row.value]
    return [
        *lines,
        *(f"{row.limit}: {_reason(row)}" for row in without_value if row.outcome != "FAIL"),
    ]


def _by_test(rows: list[VerdictRow], lines: list[str]) -> list[str]:
    """The table's heading, then the id of each test above its lines."""
    by_test: dict[str, list[str]] = {}
    for row, line in zip(rows, lines[1:], strict=True):
        by_test.setdefault(row.test, []).append(line)
    told = ([test, *members] if test else members for test, members in by_test.items())
    return ["", lines[0], *chain.from_iterable(told)]


def _reason(row: VerdictRow) -> str:
    """Why a limit could not be judged: what stands below the words of a failure."""
    lines = row.text.splitlines()
    return join_lines(lines[2:] or lines)


def _failure_lines(result: Result) -> list[str]:
    failed = [test for test in result.tests if test.outcome in ("failed", "error")]
    skipped = [test for test in result.tests if test.outcome == "skipped"]
    lines = ["nothing was measured"]
    for test in failed or skipped:
        message = one_line((test.message.splitlines() or [""])[0], 400)
        lines += [f"{test.outcome.upper()} {one_line(test.nodeid)}", f"  {message}"]
        lines += [f"  {line}" for line in earlier_lines(test.attempts)]
    return lines
