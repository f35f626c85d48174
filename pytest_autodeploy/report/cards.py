"""The section of all results in the HTML report: a card for each model on each board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.baseline.words import headline
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.report.anchors import card_id, row_anchor
from pytest_autodeploy.report.budget import Bar, bars
from pytest_autodeploy.report.failing import failing_lines
from pytest_autodeploy.report.packing import packed
from pytest_autodeploy.report.record_html import record_html
from pytest_autodeploy.report.run_table import RunRow, run_row
from pytest_autodeploy.report.standing import notes
from pytest_autodeploy.report.terminal import flaky_lines
from pytest_autodeploy.report.whole import whole_record

Test = tuple[str, str, str]
"""Ids of a test, its model and its board."""

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


@dataclass(frozen=True)
class Group:
    """The cards of a model, side by side."""

    model: str
    cards: Sequence[Card]

    @property
    def ids(self) -> list[str]:
        """The names of the cards in the page."""
        return [card.id for card in self.cards]


def cards_html(results: Sequence[Result], records: Iterable[TestRecord], folder: str) -> str:
    """The section; ``folder`` is that of the results, as a link of the report names it."""
    by_test = {(r.nodeid, r.model.id, r.board.id or ""): r for r in records}
    by_model: dict[str, list[Card]] = {}
    for result in results:
        card = _card(result, folder, _details(result, by_test))
        by_model.setdefault(card.row.model, []).append(card)
    groups = [Group(model, cards) for model, cards in by_model.items()]
    made = packed([render_html("html/group", group=group) for group in groups])
    return render_html("html/cards", groups=groups, fragments=made.plain, block=made.block)


def _details(result: Result, by_test: dict[Test, TestRecord]) -> str:
    keys = ((test.nodeid, result.model.id, result.board.id or "") for test in result.tests)
    found = [by_test[key] for key in keys if key in by_test]
    return record_html(whole_record(result, found))


def _card(result: Result, folder: str, details: str) -> Card:
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
