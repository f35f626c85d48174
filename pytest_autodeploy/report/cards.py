"""The section of all results in the HTML report: a card for each model on each board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.report.card import Card, card_of
from pytest_autodeploy.report.pack import pack
from pytest_autodeploy.report.record_html import record_html
from pytest_autodeploy.report.whole import whole_record

Test = tuple[str, str, str]
"""Ids of a test, its model and its board."""


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
    taken: Counter[str] = Counter()
    for result in results:
        card = card_of(result, folder, _details(result, by_test))
        taken[card.id] += 1
        if taken[card.id] > 1:  # another board of the type
            card = replace(card, id=f"{card.id}-{taken[card.id]}")
        by_model.setdefault(card.row.model, []).append(card)
    groups = [Group(model, cards) for model, cards in by_model.items()]
    made = pack([render_html("html/group", group=group) for group in groups])
    return render_html("html/cards", groups=groups, fragments=made.plain, block=made.block)


def _details(result: Result, by_test: dict[Test, TestRecord]) -> str:
    keys = ((test.nodeid, result.model.id, result.board.id or "") for test in result.tests)
    found = [by_test[key] for key in keys if key in by_test]
    return record_html(whole_record(result, found))
