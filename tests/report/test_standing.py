"""The one word of a result, what is told beside it, and which limits make it red."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.metrics.record import Attempt
from pytest_autodeploy.metrics.result import OutcomeRecord, Result
from pytest_autodeploy.metrics.result_parts import ResultVerdict
from pytest_autodeploy.report.standing import Standing, failing, notes, red_verdicts, standing
from pytest_autodeploy.report.verdicts import verdict_rows
from tests.helpers.report_examples import measurement, record


def outcome_of(outcome: str, failure: FailureClass | None = None, **more: Any) -> OutcomeRecord:
    return OutcomeRecord(more.pop("nodeid", "t"), outcome, "", failure, **more)


def limit(status: Status, test: str = "t", **more: Any) -> ResultVerdict:
    return ResultVerdict("m", more.pop("limit", "m()"), "marker", status, "text", test=test, **more)


def result(*tests: OutcomeRecord, verdicts: tuple[ResultVerdict, ...] = ()) -> Result:
    found: Any = SimpleNamespace(tests=tests, verdicts=verdicts)
    return cast(Result, found)


@pytest.mark.parametrize(
    ("tests", "text", "bad"),
    [
        ([("passed", None)], "pass", False),
        ([("passed", None), ("skipped", None)], "pass, 1 skipped", False),
        ([("passed", None), ("xfailed", None), ("xfailed", None)], "pass, 2 xfailed", False),
        ([("skipped", None)], "skipped", False),
        ([("skipped", None), ("skipped", None)], "skipped", False),
        ([("xpassed", None), ("xfailed", None)], "xpassed, 1 xfailed, 1 xpassed", False),
        ([("xfailed", None), ("skipped", None)], "xfailed, 1 skipped, 1 xfailed", False),
        ([("failed", "over a limit")], "FAIL", True),
        ([("failed", "other"), ("passed", None)], "FAIL", True),
        ([("failed", "other"), ("skipped", None)], "FAIL, 1 skipped", True),
        ([("failed", "regression"), ("failed", "wrong output")], "FAIL, wrong output", True),
        ([("failed", "over a limit"), ("failed", "regression")], "FAIL, regression", True),
        ([("error", "board broke")], "ERROR, board broke", True),
        ([("error", "board broke"), ("failed", "over a limit")], "FAIL, board broke", True),
        ([("failed", "not judged")], "NOT JUDGED", True),
        ([("failed", "not judged"), ("failed", "over a limit")], "FAIL", True),
        ([("passed", "wrong output")], "pass", False),
        ([], "skipped", False),
    ],
    ids=str,
)
def test_the_word_of_a_result(tests: list[Any], text: str, bad: bool) -> None:
    found = standing(result(*(outcome_of(*each) for each in tests)))
    assert (found.text, found.bad) == (text, bad)


def test_failed_tests_and_those_whose_set_up_failed_are_the_failing_ones() -> None:
    outcomes = ("passed", "failed", "error", "skipped", "xfailed")
    tests = [outcome_of(outcome) for outcome in outcomes]
    assert [test.outcome for test in failing(result(*tests))] == ["failed", "error"]


@pytest.mark.parametrize(
    ("outcome", "verdicts", "red"),
    [
        ("passed", [limit("pass")], 0),
        ("passed", [limit("NOT JUDGED")], 1),
        ("skipped", [limit("NOT JUDGED")], 1),
        ("passed", [limit("NOT JUDGED", allowed=True)], 0),
        ("passed", [limit("no limit")], 0),
        ("passed", [limit("NOT JUDGED"), limit("pass", "other")], 0),
        ("passed", [limit("NOT JUDGED"), limit("FAIL", "other")], 0),
        ("passed", [limit("NOT JUDGED"), limit("pass", "other", limit="n()")], 1),
        ("failed", [limit("FAIL"), limit("pass"), limit("NOT JUDGED")], 2),
        ("error", [limit("FAIL")], 1),
        ("xfailed", [limit("FAIL")], 0),  # it was expected
    ],
)
def test_a_limit_is_red_where_its_test_failed_or_nothing_judged_it(
    outcome: str, verdicts: list[ResultVerdict], red: int
) -> None:
    tests = outcome_of(outcome), outcome_of("xpassed", nodeid="other")
    assert len(red_verdicts(result(*tests, verdicts=tuple(verdicts)))) == red


def test_a_limit_that_nothing_judged_makes_a_passed_result_red() -> None:
    owed = standing(result(outcome_of("passed"), verdicts=(limit("NOT JUDGED"),)))
    assert (owed.text, owed.bad) == ("NOT JUDGED", True)
    allowed = standing(
        result(outcome_of("passed"), verdicts=(limit("NOT JUDGED", allowed=True), limit("pass")))
    )
    assert (allowed.text, allowed.bad) == ("pass, 1 not judged", False)


def test_a_test_that_passed_at_last_says_in_which_try() -> None:
    once, twice = (Attempt("other", ""),), (Attempt("other", ""), Attempt("other", ""))
    flaky = outcome_of("passed", attempts=once)
    assert standing(result(flaky)).text == "pass, 2nd try"
    assert standing(result(flaky, outcome_of("passed", attempts=twice))).text == "pass, 3rd try"
    assert standing(result(outcome_of("failed", attempts=once))).text == "FAIL"


@pytest.mark.parametrize(
    ("word", "bad"),
    [("FAIL", True), ("ERROR", True), ("NOT JUDGED", True), ("pass", False), ("xfailed", False)],
)
def test_three_words_are_bad(word: Any, bad: bool) -> None:
    assert Standing(word).bad is bad


def noted(**more: Any) -> list[str]:
    facts = record().board
    parts: dict[str, Any] = {
        "board": facts,
        "agreement": None,
        "artifacts": None,
        "accuracy": None,
    }
    return notes(cast(Any, SimpleNamespace(**(parts | more))))


def test_restarts_and_what_was_left_out_are_noted() -> None:
    assert noted() == []
    for count, text in ((1, "1 time"), (2, "2 times")):
        accuracy = SimpleNamespace(restarts=("sample 3",) * count)
        assert noted(accuracy=accuracy) == [f"the board was restarted {text}"]
    left = SimpleNamespace(left_out=[SimpleNamespace(what="a.npz", why="the disk is full")])
    assert noted(artifacts=left) == ["left out: a.npz: the disk is full"]
    assert noted(agreement=SimpleNamespace(warnings=("odd inputs",))) == ["odd inputs"]
    assert noted(board=replace(record().board, recorded="yesterday")) == ["yesterday"]


def test_a_limit_on_several_values_names_each() -> None:
    arena, size = measurement("arena_used", 10, "B"), measurement("model_size", 20, "B")

    def row(value: Any, status: Status = "pass", **more: Any) -> Row:
        return Row("memory_limit", "memory_limit()", "marker", status, "text", value, **more)

    rows = verdict_rows(record(verdicts=(row(arena), row(size), row(arena))))
    assert [(each.limit, each.metric) for each in rows] == [
        ("memory_limit(): arena used", "arena used"),
        ("memory_limit(): model size", "model size"),
    ]
    (alone,) = verdict_rows(record(verdicts=(row(arena), row(arena))))
    assert (alone.limit, alone.value, alone.source) == ("memory_limit()", "10 B", "modelled")
    (none,) = verdict_rows(record(verdicts=(row(None, "NOT JUDGED"),)))
    assert (none.value, none.source, none.metric) == ("", "", "memory limit")


@pytest.mark.parametrize(
    ("failure", "status", "lines"),
    [
        ("regression", "FAIL", 1),
        ("not comparable", "FAIL", 1),
        ("over a limit", "FAIL", 3),
        ("regression", "pass", 3),
    ],
)
def test_a_comparison_that_failed_has_a_table_and_here_one_line(
    failure: FailureClass, status: Status, lines: int
) -> None:
    row = Row("m", "m()", "none", status, "one\ntwo\nthree", failure=failure)
    (shown,) = verdict_rows(record(verdicts=(row,)))
    assert len(shown.text.splitlines()) == lines
    assert shown.origin == ""


@pytest.mark.parametrize(("count", "shown"), [(40, 40), (41, 40)])
def test_forty_lines_of_a_verdict_are_shown(count: int, shown: int) -> None:
    row = Row("m", "m()", "marker", "FAIL", "\n".join(["line"] * count), failure="over a limit")
    assert len(verdict_rows(record(verdicts=(row,)))[0].text.splitlines()) == shown
