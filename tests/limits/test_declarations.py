"""Limits: what may be declared, in a marker's arguments or in text."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_autodeploy.limits import energy, latency, memory, outputs, sensitivity
from pytest_autodeploy.limits.declaration import LimitError
from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.limits.declared import declare, declare_text
from pytest_autodeploy.limits.energy import EnergyLimit
from pytest_autodeploy.limits.latency import LatencyBudget
from pytest_autodeploy.limits.memory import MemoryLimit
from pytest_autodeploy.limits.sensitivity import SensitivityLimit
from pytest_autodeploy.limits.tolerance import Tolerance


def test_a_latency_budget_is_kept_in_microseconds() -> None:
    assert declare(latency.DECLARATION, ms=2.5).limit == LatencyBudget(2500)
    text = declare_text(latency.DECLARATION, "us=900,statistic=p95", "option")
    assert text.limit == LatencyBudget(900, "p95")


def test_a_memory_limit_counts_kilobytes_of_1024() -> None:
    limit = declare_text(memory.DECLARATION, "arena_kb=32, model_kb=100", "option").limit
    assert limit == MemoryLimit(32 * 1024, 100 * 1024)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"arena_kb": 2}, MemoryLimit(2048, None)),
        ({"model_kb": 2}, MemoryLimit(None, 2048)),
    ],
)
def test_one_of_two_memory_limits_is_enough(given: dict[str, Any], limit: MemoryLimit) -> None:
    assert declare(memory.DECLARATION, **given).limit == limit
    with pytest.raises(LimitError, match="give arena_kb, model_kb or both"):
        declare(memory.DECLARATION)


def test_what_no_regression_allows_unless_it_is_told() -> None:
    allowed = {group.name: group.percent for each in DECLARATIONS for group in each.groups}
    sizes = {"arena": 0, "model_size": 1}
    assert allowed == sizes | {"latency": 5, "per_layer": 10, "outputs": 0, "energy": 5}
    assert outputs.DECLARATION.default == {"lsb": 1}


def test_a_tolerance_of_zero_steps_is_allowed() -> None:
    assert declare(outputs.DECLARATION, lsb=0).limit == Tolerance(lsb=0)
    text = declare_text(outputs.DECLARATION, "atol=1e-3,rtol=1e-2,reference=ref", "ini")
    assert text.limit == Tolerance(atol=1e-3, rtol=1e-2, reference="ref")


def test_energy_can_be_declared() -> None:
    limit = declare(energy.ENERGY, uj=250, mode="LP").limit
    assert limit == EnergyLimit(250, "LP")


def test_a_sensitivity_is_a_share_of_operators_for_a_change() -> None:
    assert declare(sensitivity.DECLARATION, min=0.8).limit == SensitivityLimit(0.8, "64 steps")
    text = declare_text(sensitivity.DECLARATION, "min=0.5,change=1 step", "option")
    assert text.limit == SensitivityLimit(0.5, "1 step")


@pytest.mark.parametrize("text", ["", "min=2", "min=-1", "min=nan", "min=x", "change=1 step"])
def test_a_sensitivity_that_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(LimitError, match=r"input_sensitivity\(min=, change='64 steps'\)"):
        declare_text(sensitivity.DECLARATION, text, "--tflite-input-sensitivity")


def test_changes_that_there_are_not_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(LimitError, match="'2 steps' is not one of 64 steps, 1 step, channel"):
        declare(sensitivity.DECLARATION, min=0.5, change="2 steps")


def test_the_words_are_those_that_were_written() -> None:
    declared = declare(latency.DECLARATION, ms=25, statistic="p95")
    assert declared.text == "latency_budget(ms=25, statistic='p95')"


@pytest.mark.parametrize(
    "text", ["", "5", "ms", "ms=", "ms=0", "ms=-1", "ms=nan", "ms=inf", "ms=1,us=1", "sec=1", "=1"]
)
def test_text_that_is_no_budget_is_refused_with_the_signature(text: str) -> None:
    with pytest.raises(LimitError, match=r"latency_budget\(ms=, us=, statistic='median'\)"):
        declare_text(latency.DECLARATION, text, "--tflite-latency-budget")


def test_true_is_no_number() -> None:
    with pytest.raises(LimitError, match="lsb must be a number, not True"):
        declare(outputs.DECLARATION, lsb=True)


def test_signatures_read_as_a_user_writes_them() -> None:
    assert energy.ENERGY.usage == "energy_limit(uj=, mode='HP')"
    assert memory.DECLARATION.usage == "memory_limit(arena_kb=, model_kb=)"


@pytest.mark.parametrize("limit", [{"arena_kb": -1}, {"model_kb": -1}, {"arena_kb": 0}])
def test_a_memory_limit_of_nothing_or_less_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(LimitError, match="must be above 0"):
        declare(memory.DECLARATION, **limit)
