"""What the terminal shows of a run: the table of all results, what to know of it, and failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.report.attempts import flaky_lines
from pytest_autodeploy.report.figures import title
from pytest_autodeploy.report.run_lines import run_lines
from pytest_autodeploy.report.run_table import run_rows
from pytest_autodeploy.report.standing import notes

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result

MOST_NOTES = 10


def overview_lines(results: Sequence[Result], *, output: str, width: int) -> list[str]:
    """The table, the tests that needed another attempt, what else to know, where files are."""
    lines = run_lines(run_rows(results), width)
    for result in results:
        lines += flaky_lines(result)
    told = [(title(result), note) for result in results for note in notes(result)]
    lines += _shorten([f"NOTE {line}" for line in grouped_lines(told)])
    if output:
        lines.append(f"Results: {output}/")
    return lines


def grouped_lines(said: Iterable[tuple[str, str]]) -> list[str]:
    """``title: words`` in a line; titles of which the same is said share one with their count."""
    by_text: dict[str, list[str]] = {}
    for name, text in said:
        by_text.setdefault(text, []).append(name)
    return [
        f"{names[0] if len(names) == 1 else f'{len(names)} results'}: {text}"
        for text, names in by_text.items()
    ]


def _shorten(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_NOTES:
        return lines
    return [*lines[:MOST_NOTES], f"NOTE and {len(lines) - MOST_NOTES} more, see -v"]
