"""The card of a result in the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.comparison_text import headline
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.report.anchors import card_id, row_anchor
from pytest_autodeploy.report.attempts import flaky_lines
from pytest_autodeploy.report.budget import Bar, bars
from pytest_autodeploy.report.failures import failing_lines
from pytest_autodeploy.report.run_table import RunRow, run_row
from pytest_autodeploy.report.standing import notes

MOST_TESTS = 12


@dataclass(frozen=True)
class Link:
    """A link, and what is to be known of what it leads to."""

    text: str
    href: str
    outcome: str = ""


@dataclass(frozen=True)
class Card:
    """What the card of a result shows; ``details`` are HTML."""

    id: str
    row: RunRow
    change: str
    notes: Sequence[str]
    failing: Sequence[str]
    bars: Sequence[Bar]
    tests: Sequence[Link]
    more_tests: int
    files: Sequence[Link]
    details: str

    @property
    def tone(self) -> str:
        """The style of its verdict."""
        return "FAIL" if self.row.standing.bad else self.row.standing.word


def card_of(result: Result, folder: str, details: str) -> Card:
    """The card of a result; ``folder`` as for ``cards.cards_html``, ``details`` are HTML."""
    board, files = result.board, result.files
    paths = (files.json, files.csv, files.first_csv, files.characterization, *files.npz)
    shown = [path for path in (*paths, *files.changed) if path]
    return Card(
        id=card_id(result.model.id, board.id or "", board.clock or ""),
        row=run_row(result),
        change=headline(result.comparison) if result.comparison else "",
        notes=[*flaky_lines(result), *notes(result)],
        failing=failing_lines(result)[:40],
        bars=bars(result),
        tests=[
            Link(one_line(test.nodeid), row_anchor(test.nodeid), test.outcome)
            for test in result.tests[:MOST_TESTS]
        ],
        more_tests=max(0, len(result.tests) - MOST_TESTS),
        files=[
            Link(one_line(path.rpartition("/")[2]), f"{folder}/{quote(path)}") for path in shown
        ],
        details=details,
    )
