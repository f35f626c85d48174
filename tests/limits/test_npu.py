"""Budgets: how they are declared, and what a model that exceeds one is told."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from pytest_autodeploy.limits.declared import Declared, declare
from pytest_autodeploy.limits.npu import DECLARATION, NpuBudget, npu_budget
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.npu import judge
from pytest_autodeploy.npu.results import Estimate
from tests.helpers.npu_examples import SYSTEM, cpu_estimate, mixed_estimate, whole_estimate


def budget(**limits: Any) -> Declared:
    return declare(DECLARATION, **limits)


def verdict(estimate: Estimate, **limits: Any) -> Row:
    (only,) = judge(estimate, budget(**limits))
    return only


def test_a_budget_is_in_base_units() -> None:
    budget = npu_budget(accelerator="ethos-u85-256", cycles=5, ms=2, sram_kb=3, flash_kb=4)
    assert budget == NpuBudget("ethos-u85-256", 5, 2000, 3072, 4096)


def test_the_marker_takes_keywords_only() -> None:
    parameters = inspect.signature(npu_budget).parameters
    assert list(parameters) == [
        *("accelerator", "cycles", "ms", "sram_kb", "flash_kb", "min_coverage", "forbid_cpu_ops")
    ]
    assert {each.kind for each in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("given", "forbidden"),
    [(True, ()), (False, None), ("softmax", ("SOFTMAX",)), (["A", "b"], ("A", "B"))],
)
def test_forbidden_operators_are_all_or_named(
    given: Any, forbidden: tuple[str, ...] | None
) -> None:
    assert npu_budget(cycles=1, forbid_cpu_ops=given).forbidden == forbidden


@pytest.mark.parametrize(
    ("limits", "error", "words"),
    [
        ({}, ValueError, "give one of cycles, ms"),
        ({"accelerator": "ethos-u55-128"}, ValueError, "give one of cycles, ms"),
        ({"cycles": 0}, ValueError, "cycles must be above 0, not 0"),
        ({"ms": float("nan")}, ValueError, "ms must be above 0, not nan"),
        ({"sram_kb": "8"}, TypeError, "sram_kb must be a number, not '8'"),
        ({"flash_kb": True}, TypeError, "flash_kb must be a number, not True"),
        ({"min_coverage": 90}, ValueError, r"a share of at most 1 \(0.9 is 90 %\), not 90"),
        ({"cycles": 1, "accelerator": "u85"}, ValueError, "unknown accelerator 'u85'"),
        ({"cycles": 1, "accelerator": 85}, TypeError, "accelerator must be a name, not 85"),
        ({"forbid_cpu_ops": []}, TypeError, "forbid_cpu_ops must be True or names"),
        ({"forbid_cpu_ops": [1]}, TypeError, "forbid_cpu_ops must be True or names"),
    ],
)
def test_a_wrong_declaration_says_what_is_right(
    limits: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        npu_budget(**limits)


def test_within_its_budget_a_model_passes() -> None:
    verdicts = judge(
        whole_estimate(),
        budget(cycles=400, ms=1, sram_kb=1, flash_kb=2, min_coverage=1, forbid_cpu_ops=True),
    )
    assert [each.status for each in verdicts] == ["pass"] * 6
    assert [each.text for each in verdicts] == [
        "400, limit 400",
        "800.0 ns, limit 1.00 ms",
        "64 B, limit 1.00 KB",
        "1.50 KB, limit 2.00 KB",
        "100.0 % on the NPU (2 of 2 operators), at least 100.0 %",
        "no operator on the CPU",
    ]


def test_too_many_cycles_show_limit_value_and_the_worst_operators() -> None:
    failed = verdict(whole_estimate(), cycles=350)
    assert failed.status == "FAIL"
    assert failed.text.splitlines() == [
        "whole on ethos-u55-128: npu total cycles is over its limit",
        "  declared npu_budget(cycles=350) by marker",
        "  limit   350",
        "  value   400 (estimated)",
        "  over    50 (14.3 %)",
        "  worst operators",
        "    #0 FULLY_CONNECTED  300 cycles, 75.0 %  first",
        "    #1 FULLY_CONNECTED  100 cycles, 25.0 %  second",
    ]
    assert failed.measurement is not None
    assert failed.measurement.source == "estimated"


def test_too_much_time_shows_the_operators_with_most_cycles() -> None:
    words = verdict(whole_estimate(), ms=0.0004).text
    assert "limit   400.0 ns" in words
    assert "value   800.0 ns (estimated)" in words
    assert "#0 FULLY_CONNECTED  300 cycles" in words


def test_too_much_sram_shows_the_operators_with_most_at_once() -> None:
    words = verdict(whole_estimate(), sram_kb=0.05).text
    assert "value   64 B (estimated)" in words
    assert "#0 FULLY_CONNECTED  64 B of SRAM at once  first" in words


def test_too_much_flash_shows_the_operators_with_most_constants() -> None:
    words = verdict(whole_estimate(), flash_kb=1).text
    assert "value   1.50 KB (estimated)" in words
    assert "#0 FULLY_CONNECTED  64 B of constants, 66.7 %  first" in words


def test_a_part_on_the_npu_says_so_in_both_outcomes() -> None:
    assert verdict(mixed_estimate(), cycles=400).text == (
        "400, limit 400 (NPU part only, 2 of 4 operators)"
    )
    words = verdict(mixed_estimate(), cycles=1).text
    assert "value   400 (estimated, NPU part only, 2 of 4 operators)" in words


def test_too_little_coverage_shows_what_is_on_the_cpu_and_why() -> None:
    failed = verdict(mixed_estimate(), min_coverage=0.9)
    assert failed.status == "FAIL"
    assert "limit   90.0 % of the operators" in failed.text
    assert "value   50.0 %, 2 of 4 operators (estimated)" in failed.text
    assert "#1 MyOperator  fallback: Unsupported opType" in failed.text


def test_a_forbidden_operator_on_the_cpu_fails_and_another_does_not() -> None:
    failed = verdict(mixed_estimate(), forbid_cpu_ops=["dequantize"])
    assert failed.status == "FAIL"
    assert "limit   no DEQUANTIZE on the CPU" in failed.text
    assert "#5 DEQUANTIZE  real" in failed.text
    assert "MyOperator" not in failed.text
    assert verdict(mixed_estimate(), forbid_cpu_ops=["SOFTMAX"]).status == "pass"


def test_without_operators_names_cannot_be_judged_but_all_can() -> None:
    unknown = mixed_estimate(perf="")
    assert verdict(unknown, forbid_cpu_ops=["SOFTMAX"]).status == "NOT JUDGED"
    assert verdict(unknown, forbid_cpu_ops=True).status == "FAIL"


def test_without_operators_the_worst_layers_are_shown() -> None:
    words = verdict(mixed_estimate(perf=""), cycles=1).text
    assert "    Conv2D  300 cycles  first" in words


def test_a_model_that_does_not_run_on_the_npu_fails_every_limit() -> None:
    verdicts = judge(
        cpu_estimate(),
        budget(cycles=9, ms=9, sram_kb=9, flash_kb=9, min_coverage=0.1, forbid_cpu_ops=True),
    )
    assert [each.status for each in verdicts] == ["FAIL"] * 6
    assert "is unavailable, because nothing runs on the NPU" in verdicts[0].text
    assert "#0 RELU  tensor_1: Float32 is not supported" in verdicts[0].text


def test_a_memory_that_the_system_does_not_have_is_not_judged() -> None:
    judged = verdict(whole_estimate(replace(SYSTEM, memories=("sram",))), flash_kb=1)
    assert judged.status == "NOT JUDGED"
    assert judged.text.startswith(
        "whole on ethos-u55-128: npu flash is unavailable, because Embedded has no on-chip flash"
        " and Embedded has no off-chip flash"
    )


def test_a_budget_for_another_accelerator_is_not_judged() -> None:
    assert judge(whole_estimate(), budget(accelerator="ethos-u85-256", cycles=1)) == []
    assert judge(whole_estimate(), budget(accelerator="ethos-u55-128", cycles=1))


@pytest.mark.parametrize(("least", "status"), [(0.5, "pass"), (0.5000001, "FAIL")])
def test_a_share_on_the_npu_at_its_limit_passes(least: float, status: str) -> None:
    assert verdict(mixed_estimate(), min_coverage=least).status == status


@pytest.mark.parametrize(
    ("limits", "beyond"),
    [
        ({"cycles": 400}, {"cycles": 399}),
        ({"ms": 0.0008}, {"ms": 0.00079}),
        ({"sram_kb": 64 / 1024}, {"sram_kb": 63 / 1024}),
        ({"flash_kb": 1.5}, {"flash_kb": 1.49}),
    ],
)
def test_a_figure_exactly_at_its_limit_passes(
    limits: dict[str, Any], beyond: dict[str, Any]
) -> None:
    assert verdict(whole_estimate(), **limits).status == "pass"
    failed = verdict(whole_estimate(), **beyond)
    assert (failed.status, failed.failure) == ("FAIL", "over a limit")


def test_what_cannot_be_judged_has_a_class_of_its_own() -> None:
    judged = verdict(mixed_estimate(perf=""), forbid_cpu_ops=["SOFTMAX"])
    assert (judged.status, judged.failure) == ("NOT JUDGED", "not judged")
    assert verdict(whole_estimate(), cycles=400).failure is None


def test_a_budget_without_an_accelerator_is_for_each() -> None:
    assert [each.status for each in judge(whole_estimate(), budget(cycles=400))] == ["pass"]


def many(count: int) -> Estimate:
    """As many operators on the CPU, and none on the NPU."""
    estimate = cpu_estimate()
    (operator,) = estimate.operators
    operators = tuple(replace(operator, index=number) for number in range(count))
    return replace(estimate, operators=operators)


@pytest.mark.parametrize(("count", "more"), [(5, 0), (6, 1), (9, 4)])
def test_five_operators_are_named_and_the_others_counted(count: int, more: int) -> None:
    lines = verdict(many(count), forbid_cpu_ops=True).text.splitlines()
    assert [line for line in lines if "    #" in line] == [
        line for line in lines if line.startswith("    #")
    ]
    assert sum(line.startswith("    #") for line in lines) == 5
    assert (lines[-1] == f"    and {more} more") is (more > 0)


def test_an_operator_that_costs_nothing_is_not_among_the_worst() -> None:
    whole = whole_estimate()
    free = replace(whole.operators[1], cycles=0)
    estimate = replace(whole, operators=(whole.operators[0], free))
    lines = verdict(estimate, cycles=1).text.splitlines()
    assert [line for line in lines if line.startswith("    #")] == [
        "    #0 FULLY_CONNECTED  300 cycles, 100.0 %  first"
    ]


@pytest.mark.parametrize("staging", [0, None])
def test_an_operator_that_stages_nothing_is_not_among_the_worst(staging: int | None) -> None:
    whole = whole_estimate()
    free = replace(whole.operators[1], staging_bytes=staging)
    estimate = replace(whole, operators=(whole.operators[0], free))
    lines = verdict(estimate, sram_kb=0.05).text.splitlines()
    assert [line for line in lines if line.startswith("    #")] == [
        "    #0 FULLY_CONNECTED  64 B of SRAM at once  first"
    ]


def test_long_names_and_reasons_are_cut() -> None:
    estimate = many(1)
    (operator,) = estimate.operators
    long = replace(operator, output="o" * 500, reason="r" * 500)
    line = verdict(replace(estimate, operators=(long,)), forbid_cpu_ops=True).text.splitlines()[-1]
    name, _, reason = line.removeprefix("    #0 RELU  ").partition(": ")
    assert (len(name), len(reason)) == (60, 120)
