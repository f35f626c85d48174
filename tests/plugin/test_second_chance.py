"""A model whose board broke is tried once more where that can be done, and every report says so."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.memory import Memory
from pytest_autodeploy.metrics.subject import Subject
from tests.helpers.broken_boards import break_board

ON = "--evb-second-chance=on"
HEAD = """
import os, signal
import pytest
pytestmark = pytest.mark.tflite("digits_cnn.tflite")
tries = []
"""
DIES_ONCE = (
    HEAD
    + """
@pytest.fixture(scope="session")
def pid(model_session):
    model_session.run()
    return model_session.board.pid

@pytest.fixture
def list_of_the_attempt():
    return []

def test_before(model_session):
    model_session.run()

def test_it(model_session, evb, pid, list_of_the_attempt):
    assert pid == evb.pid
    assert list_of_the_attempt == []
    list_of_the_attempt.append(1)
    tries.append(1)
    if len(tries) == 1:
        os.kill(evb.pid, signal.SIGKILL)
    model_session.latency()

def test_after(model_session, pid):
    assert pid == model_session.board.pid
    model_session.run()
"""
)

pytestmark = pytest.mark.usefixtures("digits")


def outcomes_in(folder: Path) -> dict[str, Any]:
    """The tests in the JSON of the only result, by name."""
    (path,) = folder.glob("autodeploy-results/*/*/result.json")
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    return {test["nodeid"].partition("::")[2].partition("[")[0]: test for test in tests}


def test_it_passes_and_the_first_failure_is_in_every_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=DIES_ONCE)
    files = ("--autodeploy-summary=s.md", "--junit-xml=j.xml", "--html=r.html")
    result = pytester.runpytest("test_it.py", ON, *files)
    assert result.ret == 0
    died = "process died of SIGKILL"
    flaky = "FLAKY test_it.py::test_it*: passed after a fresh start of the board; earlier: on sim:*"
    result.stdout.fnmatch_lines(["*pass, after a fresh start*", f"{flaky}{died}*"])
    assert "3 passed, 1 broke in " in result.outlines[-1]
    (attempt,) = outcomes_in(pytester.path)["test_it"]["attempts"]
    assert died in attempt.pop("message")
    assert attempt == {
        "again": "fresh start",
        "board": "sim:apollo4p_evb",
        "failure": "board broke",
        "measurements": [],
    }
    junit = Path("j.xml").read_text(encoding="utf-8")
    assert junit.count("<testcase ") == 3
    assert 'name="autodeploy.second_chance" value="fresh start"' in junit
    for file in ("j.xml", "r.html", "s.md"):
        assert died in Path(file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize(
    "option",
    [
        pytest.param((), id="auto"),
        pytest.param(("--evb-second-chance=off",), id="off", marks=pytest.mark.slow),
    ],
)
def test_a_board_that_the_run_starts_gets_none_unasked(
    pytester: pytest.Pytester, option: tuple[str, ...]
) -> None:
    pytester.makepyfile(test_it=DIES_ONCE)
    pytester.runpytest("test_it.py", *option).assert_outcomes(failed=2, passed=1)


def test_a_model_that_breaks_every_board_is_tried_twice_and_red(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke")
    result = pytester.runpytest("--tflite=digits_cnn.tflite", ON, "--autodeploy-summary=s.md")
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 1, "errors": 4, "broke": 1}
    (first,) = [test for test in outcomes_in(pytester.path).values() if test["attempts"]]
    assert len(first["attempts"]) == 1
    result.stdout.fnmatch_lines(["  attempt 1: on sim:apollo4p_evb: board broke: *SIGSEGV*"])
    assert "attempt 1: on sim:" in Path("s.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "fault", ["wrong-model", pytest.param("corrupt-output", marks=pytest.mark.slow)]
)
def test_what_is_wrong_is_not_tried_until_it_is_right(
    pytester: pytest.Pytester, fault: str
) -> None:
    break_board(pytester, fault)
    result = pytester.runpytest("--tflite=digits_cnn.tflite", ON, "-k", "outputs_agree")
    assert result.ret == 1
    assert "broke" not in result.parseoutcomes()


@pytest.mark.slow
def test_no_baseline_is_made_of_a_model_whose_board_broke(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=DIES_ONCE)
    result = pytester.runpytest("test_it.py", ON, "--autodeploy-update-baseline")
    result.stdout.fnmatch_lines(["*: not updated, test_it.py::test_it* needed a rerun"])
    assert not [*Path("autodeploy-baselines").rglob("*.json")]


@pytest.mark.parametrize("stop", ["-x", pytest.param("--maxfail=1", marks=pytest.mark.slow)])
def test_an_attempt_that_another_followed_stops_no_run(
    pytester: pytest.Pytester, stop: str
) -> None:
    pytester.makepyfile(test_it=DIES_ONCE)
    result = pytester.runpytest("test_it.py", ON, stop)
    assert result.parseoutcomes() == {"passed": 3, "broke": 1}


@pytest.mark.slow
def test_a_second_attempt_that_fails_stops_a_run(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke")
    result = pytester.runpytest("--tflite=digits_cnn.tflite", ON, "-x")
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 1, "broke": 1}


@pytest.mark.slow
def test_a_run_that_is_to_stop_has_no_second_attempt(pytester: pytest.Pytester) -> None:
    stops = "    request.session.shouldstop = 'enough'\n    model_session.latency()"
    body = DIES_ONCE.replace("    model_session.latency()", stops).replace(
        "pid, l", "pid, request, l"
    )
    pytester.makepyfile(test_it=body)
    result = pytester.runpytest("test_it.py", ON)
    assert result.ret != 0
    assert result.parseoutcomes() == {"passed": 1, "failed": 1}


def test_a_rerun_is_the_second_chance_where_there_are_reruns(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=DIES_ONCE.replace("assert pid ==", "pid =="))
    result = pytester.runpytest("test_it.py", ON, "--reruns=2")
    assert result.parseoutcomes() == {"passed": 3, "rerun": 1}
    (attempt,) = outcomes_in(pytester.path)["test_it"]["attempts"]
    assert attempt["again"] == "fresh start"


@pytest.mark.slow
def test_a_fixture_that_broke_the_board_is_made_anew(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
@pytest.fixture(scope="module")
def outputs(model_session, evb):
    tries.append(1)
    if len(tries) == 1:
        os.kill(evb.pid, signal.SIGKILL)
    return model_session.run()

def test_it(outputs):
    assert outputs

def test_after(outputs):
    assert len(tries) == 2
"""
    )
    result = pytester.runpytest("test_it.py", ON)
    assert result.parseoutcomes() == {"passed": 2, "broke": 1}


@pytest.mark.slow
def test_a_limit_that_only_the_first_attempt_judged_is_owed_by_the_second(
    pytester: pytest.Pytester,
) -> None:
    """It was judged on the board that broke."""
    pytester.makeini("[pytest]\nautodeploy_latency_budget = ms=1e6\n")
    pytester.makepyfile(
        test_it=HEAD
        + """
def test_it(model_session, evb):
    tries.append(1)
    if len(tries) == 1:
        model_session.latency()
        os.kill(evb.pid, signal.SIGKILL)
        model_session.run()
"""
    )
    result = pytester.runpytest("test_it.py", ON)
    (path,) = pytester.path.glob("autodeploy-results/*/*/result.json")
    verdicts = json.loads(path.read_text(encoding="utf-8"))["verdicts"]
    assert [row["status"] for row in verdicts if row["metric"] == "latency_budget"] == ["pass"]
    assert result.parseoutcomes() == {"passed": 1, "broke": 1}


def test_a_limit_that_failed_before_the_board_broke_stays_red(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another board would hide it."""

    def rows(_metric: Memory, subject: Subject, _declared: Declared) -> Iterator[Row]:
        os.kill(subject.board.board.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        subject.board.latency()
        yield from ()

    monkeypatch.setattr(Memory, "rows", rows)
    pytester.makepyfile(
        test_it=HEAD
        + """
@pytest.mark.latency_budget(us=1)
@pytest.mark.memory_limit(arena_kb=500)
def test_it(model_session):
    model_session.latency()
"""
    )
    result = pytester.runpytest_inprocess("test_it.py", ON)
    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*latency_budget(us=1)*FAIL*"])
