"""The loop that judges: what is owed is measured, and each limit ends in rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import AutodeployError, BoardDied, BoardRefused, ModelError
from pytest_autodeploy.limits import latency, memory
from pytest_autodeploy.limits.declared import Declared, declare
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.judgement import Judgement, judge
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.run.metrics import metrics
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.noisy_session import gate, session, subject, without_tflm

BUDGET = declare(latency.DECLARATION, ms=1000)
ROOM = declare(memory.DECLARATION, model_kb=640)


@pytest.fixture
def measured() -> Iterator[ModelSession]:
    with without_tflm():
        yield session(TimingNoise())


def judged(measured: ModelSession, *limits: Declared, owed: bool = True) -> Judgement:
    whole = subject(measured, gate(Path("unused")))
    return judge(whole, limits, metrics(), lambda _declared: owed)


def statuses(judgement: Judgement) -> list[tuple[str, str]]:
    return [(row.metric, row.status) for row in judgement.rows]


def test_what_is_owed_is_measured_and_judged(measured: ModelSession) -> None:
    assert statuses(judged(measured, BUDGET, ROOM)) == [
        ("latency_budget", "pass"),
        ("memory_limit", "pass"),
    ]


def test_what_is_not_owed_is_judged_when_it_was_measured_anyway(measured: ModelSession) -> None:
    measured.latency()
    assert statuses(judged(measured, BUDGET, ROOM, owed=False)) == [("latency_budget", "pass")]


def test_what_was_measured_without_a_limit_is_told(measured: ModelSession) -> None:
    measured.latency()
    assert statuses(judged(measured)) == [("latency_budget", "no limit")]


def test_a_board_that_breaks_leaves_a_row_for_each_limit(
    measured: ModelSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_session: ModelSession) -> None:
        raise BoardDied("invoke: its process died of SIGKILL", board="sim:x")

    monkeypatch.setattr(ModelSession, "latency", dies)
    judgement = judged(measured, BUDGET, ROOM)
    assert statuses(judgement) == [
        ("latency_budget", "NOT JUDGED"),
        ("memory_limit", "NOT JUDGED"),
    ]
    assert isinstance(judgement.broke, BoardDied)
    assert all("died of SIGKILL" in row.text for row in judgement.red)


def test_the_cause_is_told_by_the_row_about_wrong_outputs_alone() -> None:
    def red(failure: FailureClass) -> Row:
        return Row("m", "m()", "marker", "FAIL", "it failed", failure=failure)

    passed = Row("m", "m()", "marker", "pass", "ok", failure=None)
    rows = (red("wrong output"), red("over a limit"), passed)
    assert [row.why for row in Judgement(rows).because("cause").rows] == ["cause", "", ""]


@pytest.mark.parametrize(
    "error",
    [BoardRefused("no", status="NO_MEMORY", text="no", board="sim"), ModelError("no")],
    ids=type,
)
def test_only_a_board_that_broke_ends_the_rest(
    measured: ModelSession, monkeypatch: pytest.MonkeyPatch, error: AutodeployError
) -> None:
    def refuses(_session: ModelSession) -> None:
        raise error

    monkeypatch.setattr(ModelSession, "latency", refuses)
    judgement = judged(measured, BUDGET, ROOM)
    assert statuses(judgement) == [("latency_budget", "NOT JUDGED"), ("memory_limit", "pass")]
    assert judgement.broke is None


def test_a_metric_that_cannot_be_repeated_says_so(measured: ModelSession) -> None:
    whole = subject(measured, gate(Path("unused")))
    assert not metrics()["memory_limit"].repeat(whole, "arena_used", 3, restarted=False)


def test_a_time_that_leaves_operators_out_is_within_no_limit(
    measured: ModelSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelSession, "incomplete", property(lambda _session: ("SignalRfft",)))
    (row,) = judged(measured, BUDGET).red
    assert row.status == "NOT JUDGED"
    assert "the figure leaves out SignalRfft, whose cost is not modelled" in row.text


def test_a_metric_that_gives_no_row_is_not_judged(
    measured: ModelSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(metrics()["latency_budget"]), "rows", lambda *_: [])
    (row,) = judged(measured, BUDGET).red
    assert row.status == "NOT JUDGED"
    assert "nothing was held against it" in row.text
