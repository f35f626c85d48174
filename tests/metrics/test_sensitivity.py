"""A limit on what inputs would notice: at its bound, and where operators are not known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import (
    ChangeNoticed,
    Count,
    OperatorSensitivity,
    Sensitivity,
)
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.limits.sensitivity import CHANNEL, DECLARATION, STEP, STEPS
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.sensitivity import InputSensitivity
from pytest_autodeploy.metrics.subject import NotJudged, Subject

SEEN, UNSEEN = ChangeNoticed(((0,),)), ChangeNoticed(((),))


def found(noticed: int, not_noticed: int = 0, unknown: int = 0, change: str = STEPS) -> Sensitivity:
    kinds = [SEEN] * noticed + [UNSEEN] * not_noticed
    known = [OperatorSensitivity(n, "CONV_2D", {change: kind}) for n, kind in enumerate(kinds)]
    odd = [OperatorSensitivity(n, "CUSTOM", {}, "no time") for n in range(unknown)]
    return Sensitivity("random", 3, "1 step", "TFLM", (*known, *odd), 0.1)


def subject(sensitivity: Sensitivity | None, services: Any = None, run: Any = None) -> Subject:
    session: Any = SimpleNamespace(
        measured=SimpleNamespace(run=run),
        model=SimpleNamespace(name="m"),
        board=SimpleNamespace(id="sim:x"),
    )
    whole = Subject(cast(Any, services), session)
    whole.evidence.sensitivity = sensitivity
    return whole


def judged(sensitivity: Sensitivity, least: float, change: str = STEPS) -> Row:
    limit = declare(DECLARATION, min=least, change=change)
    (row,) = InputSensitivity().rows(subject(sensitivity), limit)
    return row


@pytest.mark.parametrize(
    ("least", "status"), [(0.75, "pass"), (0.7500001, "FAIL"), (0, "pass"), (1, "FAIL")]
)
def test_a_share_at_its_limit_passes(least: float, status: str) -> None:
    assert judged(found(3, 1), least).status == status


def test_operators_that_are_not_known_decide_nothing() -> None:
    """Of four operators two are noticed for certain, and three if the unknown one is."""
    assert judged(found(2, 1, unknown=1), 0.5).status == "pass"
    assert judged(found(2, 1, unknown=1), 0.76).status == "FAIL"
    for least in (0.51, 0.75):
        with pytest.raises(NotJudged):
            judged(found(2, 1, unknown=1), least)


def test_a_limit_is_on_the_change_that_it_names() -> None:
    assert judged(found(1, change=STEP), 1, STEP).status == "pass"
    with pytest.raises(NotJudged, match="no operator has outputs that can be changed by channel"):
        judged(found(1, change=STEP), 0.5, CHANNEL)


def test_shares_count_what_is_not_known() -> None:
    assert (Count(2, 3, 1).least, Count(2, 3, 1).most, Count(2, 3, 1).operators) == (0.5, 0.75, 4)
    assert (Count(0, 0, 0).least, Count(0, 0, 0).most) == (0, 0)


def test_all_variants_of_a_change_have_to_be_noticed() -> None:
    assert ChangeNoticed(((0,), (1, 2))).noticed
    assert not ChangeNoticed(((0,), ())).noticed


def test_a_share_is_told_for_each_change_where_all_is_known() -> None:
    told = list(InputSensitivity().measurements(subject(found(3, 1))))
    assert [(each.name, each.value, each.note) for each in told] == [
        ("input_sensitivity", 0.75, "3 of 4 operators")
    ]
    (step,) = InputSensitivity().measurements(subject(found(1, change=STEP)))
    assert step.name == "input_sensitivity_1_step"
    for nothing in (None, found(3, unknown=1)):
        assert list(InputSensitivity().measurements(subject(nothing))) == []


def test_without_a_limit_it_is_told_where_it_was_asked_for_or_is_known() -> None:
    def told(*, wanted: bool, known: Sensitivity | None, run: Any = 1) -> list[Row]:
        services = SimpleNamespace(
            wants_sensitivity=wanted,
            sensitivity=lambda _run: found(1),
            known_sensitivity=lambda _run: known,
        )
        return list(InputSensitivity().unlimited(subject(None, services, run), []))

    assert [row.status for row in told(wanted=True, known=None)] == ["no limit"]
    assert [row.status for row in told(wanted=False, known=found(2))] == ["no limit"]
    assert told(wanted=False, known=None) == []
    assert told(wanted=True, known=None, run=None) == []


def test_what_has_a_limit_is_not_told_again_and_what_failed_is_red() -> None:
    def fails(_run: object) -> Sensitivity:
        raise ReferenceFailed("no engine")

    services = SimpleNamespace(wants_sensitivity=True, sensitivity=fails)
    limit = declare(DECLARATION, min=0.5)
    assert list(InputSensitivity().unlimited(subject(None, services, 1), [limit])) == []
    (row,) = InputSensitivity().unlimited(subject(None, services, 1), [])
    assert (row.status, row.red, row.failure) == ("NOT JUDGED", True, "not judged")
    assert row.text == "m on sim:x: what the inputs would notice is not known\n  no engine"
