"""The ledger: which rows are red, in which order, and what a whole run owes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused, Unsupported
from pytest_autodeploy.metrics.failures import (
    CLASSES,
    FailureClass,
    class_of_error,
    classify,
)
from pytest_autodeploy.metrics.ledger import Row, Status, red_rows
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.run_ledger import allowed, unjudged
from tests.helpers.report_examples import BOARD, MODEL


def row(status: Status, failure: FailureClass | None = None, **more: object) -> Row:
    return replace(Row("m", "m()", "marker", status, "text", failure=failure), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "is_allowed", "red"),
    [
        ("pass", False, False),
        ("no limit", False, False),
        ("FAIL", False, True),
        ("NOT JUDGED", False, True),
        ("NOT JUDGED", True, False),
    ],
)
def test_a_row_is_red_when_it_failed_or_nothing_judged_it(
    status: Status, is_allowed: bool, red: bool
) -> None:
    assert row(status, allowed=is_allowed).red is red
    assert len(red_rows([row(status, allowed=is_allowed)])) == red


def test_the_gravest_class_comes_first_and_one_without_a_class_last() -> None:
    classes: list[FailureClass | None] = [None, "not judged", "over a limit", "wrong output"]
    found = red_rows([row("FAIL", each) for each in classes])
    assert [each.failure for each in found] == [*reversed(classes)]
    assert CLASSES[0] == "wrong output"
    assert CLASSES[-1] == "other"


def test_a_message_ends_with_the_cause() -> None:
    assert row("FAIL").message == "text"
    assert row("FAIL", why="because").message == "text\nbecause"


def test_an_error_of_a_board_that_only_refused_is_no_broken_board() -> None:
    refused = BoardRefused("no", status="NO_MEMORY", text="no", board="sim")
    assert class_of_error(BoardDied("gone", board="sim")) == "board broke"
    assert (
        class_of_error(refused) == class_of_error(None) == class_of_error(ValueError()) == "other"
    )


def test_what_a_board_cannot_do_is_not_judged() -> None:
    assert class_of_error(Unsupported("no", status="x", text="no", board="sim")) == "not judged"


def test_classes_that_a_text_does_not_say_itself_come_before_it() -> None:
    named = {each for each in CLASSES if classify(each, "text") == f"{each}: text"}
    assert set(CLASSES) - named == {"over a limit", "other"}
    assert classify("other", "text") == "text"


def record(outcome: str, *rows: Row, nodeid: str = "t", board: str = "sim:x") -> TestRecord:
    return TestRecord(nodeid, outcome, "", MODEL, replace(BOARD, id=board), verdicts=rows)


@pytest.mark.parametrize(
    ("outcome", "told"), [("passed", 1), ("skipped", 1), ("failed", 0), ("error", 0)]
)
def test_what_a_test_owed_is_told_unless_the_test_failed_anyway(outcome: str, told: int) -> None:
    records = [record(outcome, row("NOT JUDGED"))]
    assert len(unjudged(records)) == told


def test_a_limit_that_another_test_judged_is_not_owed_any_more() -> None:
    for status in ("pass", "FAIL"):
        other = record("failed", row(status), nodeid="other")
        assert unjudged([record("skipped", row("NOT JUDGED")), other]) == []
        assert unjudged([other, record("skipped", row("NOT JUDGED"))]) == []


def test_another_limit_another_board_or_no_judgement_leaves_it_owed() -> None:
    owed = record("skipped", row("NOT JUDGED"))
    for other in (
        record("passed", row("pass", limit="n()")),
        record("passed", row("pass"), board="sim:apollo510_evb"),
        record("passed", row("no limit")),
    ):
        ((found, judged),) = unjudged([owed, other])
        assert (found.nodeid, judged.status) == ("t", "NOT JUDGED")


def test_what_the_user_allowed_is_counted_and_not_owed() -> None:
    records = [record("skipped", row("NOT JUDGED", allowed=True), row("pass")), record("passed")]
    assert (allowed(records), unjudged(records)) == (1, [])
    assert allowed([*records, *records]) == 2
