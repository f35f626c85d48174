"""What a comparison with a baseline makes a test measure, and what it says when that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.baseline.layer_profiles import (
    MOST,
    OF_BASELINE,
    PROFILES,
    more_profiles,
    profile,
)
from pytest_autodeploy.baseline.update import update_baselines
from pytest_autodeploy.baseline.verdict import unmeasured
from pytest_autodeploy.limits.declarations import REGRESSION, default_regression
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.limits.regression import LAYERS
from pytest_autodeploy.metrics.comparison import Comparison, Row
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.baseline_examples import ENTRY, with_layers
from tests.helpers.noisy_session import gate, judged, measure, record, session, without_tflm


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a baseline with latency and layers."""
    with without_tflm():
        measured = session(TimingNoise(1, 1))
        measure(measured, gate(tmp_path, update="all"))
        update = update_baselines(
            [record(measured)],
            tmp_path,
            tmp_path,
            mode="all",
            plugin_version="0.1.0",
            limit=default_regression(),
        )
    assert not update.problems
    return tmp_path


def test_a_limit_of_layers_on_a_board_without_a_profile_is_not_judged(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelSession, "has_profile", False)
    with without_tflm():
        only_layers = declare(REGRESSION, per_layer="10%")
        (row,) = judged(session(TimingNoise(1, 2)), gate(kept, only_layers)).rows
    assert row.status == "NOT JUDGED"
    assert "the board cannot profile layers" in row.text


def test_a_slower_inference_gets_its_layers_profiled_to_name_them(kept: Path) -> None:
    with without_tflm():
        slow = session(TimingNoise(1, 2, 30))
        slow.latency()
        only_latency = declare(REGRESSION, latency="5%", per_layer="off")
        comparison = judged(slow, gate(kept, only_latency)).evidence.comparison
    assert isinstance(comparison, Comparison)
    assert comparison.state == "regression"
    assert len(comparison.layers) == 7
    assert slow.measured.profile is not None


@pytest.mark.parametrize(("baseline", "repeats"), [(False, PROFILES), (True, OF_BASELINE)])
def test_a_profile_of_one_inference_is_topped_up(baseline: bool, repeats: int) -> None:
    with without_tflm():
        measured = session(TimingNoise(1, 1))
        measured.profile()
        profile(measured, baseline=baseline)
    assert measured.measured.profile is not None
    # On a board whose times are exact a baseline needs no more than a comparison.
    wanted = PROFILES if measured.kind.exact else repeats
    assert measured.measured.profile.repeats == wanted


@pytest.mark.parametrize(("percent", "state"), [("10%", "FAIL"), ("300%", "pass")])
def test_layers_that_were_profiled_are_judged(kept: Path, percent: str, state: str) -> None:
    with without_tflm():
        slow = session(TimingNoise(1, 2, 30))
        slow.profile()
        only_layers = declare(REGRESSION, latency="300%", per_layer=percent)
        (row,) = judged(slow, gate(kept, only_layers)).rows
    assert row.status == state


def test_a_named_group_that_was_not_measured_is_told() -> None:
    limit, must = default_regression(), frozenset({"latency", "arena", LAYERS})
    assert unmeasured(must, limit, with_layers()) == []
    bare = replace(ENTRY, metrics={"arena_used": ENTRY.metrics["arena_used"]}, layers=None)
    assert unmeasured(must, limit, bare) == [
        "latency was not measured by this test",
        f"{LAYERS} was not measured by this test",
    ]


@pytest.mark.parametrize(
    ("state", "by", "repeats", "time_left", "more"),
    [
        ("cannot tell", "repeats", 10, True, 30),
        ("cannot tell", "repeats", 40, True, MOST),
        ("cannot tell", "repeats", MOST, True, None),
        ("cannot tell", "repeats", 10, False, None),
        ("cannot tell", "repeats", None, True, None),
        ("cannot tell", "starts", 10, True, None),
        ("regression", "repeats", 10, True, None),
    ],
)
def test_layers_that_repeats_cannot_tell_are_profiled_three_times_as_often(
    state: Any, by: Any, repeats: int | None, time_left: bool, more: int | None
) -> None:
    asked: list[tuple[str, int]] = []
    known = SimpleNamespace(run="warm", repeats=repeats) if repeats else None
    profiled = SimpleNamespace(
        measured=SimpleNamespace(profile=known), profile=lambda *how: asked.append(how)
    )
    row = Row("#0 CONV_2D", "us", "measured", 1.0, 1.0, state=state, by=by)
    comparison = Comparison("within", "f", layers=(row,))
    enough = cast(Any, SimpleNamespace(time_left=time_left))
    assert more_profiles(cast(Any, profiled), comparison, enough) is (more is not None)
    assert asked == ([] if more is None else [("warm", more)])
