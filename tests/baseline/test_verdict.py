"""How a comparison with a baseline ends: what is owed and not judged never passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.baseline.verdict import status_of
from pytest_autodeploy.limits.declarations import REGRESSION
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.metrics.comparison import Comparison, State
from pytest_autodeploy.metrics.ledger import Status
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.noisy_session import gate, judged, session, without_tflm


@pytest.mark.parametrize(
    ("state", "asked", "exists", "status"),
    [
        *(("within", asked, True, "pass") for asked in (True, False)),
        *(("improved", asked, True, "pass") for asked in (True, False)),
        *(("regression", asked, True, "FAIL") for asked in (True, False)),
        *(("not comparable", asked, True, "NOT JUDGED") for asked in (True, False)),
        *(("cannot tell", asked, True, "NOT JUDGED") for asked in (True, False)),
        ("not comparable", True, False, "NOT JUDGED"),
        ("not comparable", False, False, "no limit"),
        *(("no baseline", True, exists, "NOT JUDGED") for exists in (True, False)),
        *(("no baseline", False, exists, "no limit") for exists in (True, False)),
    ],
)
def test_a_comparison_is_passed_judged_or_told(
    state: State, asked: bool, exists: bool, status: Status
) -> None:
    assert status_of(Comparison(state, "f"), asked=asked, exists=exists) == status


@pytest.mark.parametrize(
    ("update", "status"), [(None, "NOT JUDGED"), ("new", "no limit"), ("all", "no limit")]
)
def test_a_run_that_adds_baselines_owes_no_comparison_with_them(
    tmp_path: Path, update: str | None, status: str
) -> None:
    with without_tflm():
        measured = session(TimingNoise(1, 1))
        measured.latency()
        by = gate(tmp_path, declare(REGRESSION), update)
        (row,) = judged(measured, by).rows
    assert row.status == status


@pytest.mark.parametrize("asked", [True, False])
def test_without_a_baseline_only_what_is_asked_for_is_red(tmp_path: Path, asked: bool) -> None:
    with without_tflm():
        measured = session(TimingNoise(1, 1))
        measured.latency()
        by_default = replace(declare(REGRESSION), origin="default")
        (row,) = judged(measured, gate(tmp_path, by_default, asked=asked)).rows
    assert row.status == ("NOT JUDGED" if asked else "no limit")
