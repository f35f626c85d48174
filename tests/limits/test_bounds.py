"""Limits at their bounds: the last value that may be declared, and the first that may not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_autodeploy.limits import accuracy, energy, latency, memory, npu, outputs, sensitivity
from pytest_autodeploy.limits.declaration import Declaration, LimitError
from pytest_autodeploy.limits.declarations import REGRESSION, default_regression
from pytest_autodeploy.limits.declared import declare, declare_text, merge, written, written_text
from pytest_autodeploy.limits.numbers import check_choice, check_count
from pytest_autodeploy.limits.tolerance import DEFAULT_PEAK_RTOL, Tolerance, steps_text

LEAST = 1e-9


@pytest.mark.parametrize(
    ("declaration", "limits"),
    [
        (latency.DECLARATION, {"ms": LEAST}),
        (latency.DECLARATION, {"us": LEAST}),
        (memory.DECLARATION, {"arena_kb": LEAST}),
        (memory.DECLARATION, {"model_kb": LEAST}),
        (energy.ENERGY, {"uj": LEAST}),
        (energy.POWER, {"mw": LEAST, "mode": "LP"}),
        (npu.DECLARATION, {"cycles": LEAST}),
        (npu.DECLARATION, {"min_coverage": 1}),
        (npu.DECLARATION, {"forbid_cpu_ops": True}),
        (accuracy.DECLARATION, {"min": 0}),
        (accuracy.DECLARATION, {"min": 1, "top_k": 2}),
        (accuracy.DECLARATION, {"max_drop": 0}),
        (accuracy.DECLARATION, {"max_drop": 1, "top_k": 3}),
        (accuracy.DECLARATION, {"max_rmse": 0}),
        (accuracy.DECLARATION, {"min_r2": 1}),
        (sensitivity.DECLARATION, {"min": 0}),
        (sensitivity.DECLARATION, {"min": 1}),
        (outputs.DECLARATION, {"lsb": 0, "atol": 0, "rtol": 0}),
    ],
)
def test_the_last_value_of_a_range_may_be_declared(
    declaration: Declaration, limits: dict[str, Any]
) -> None:
    assert declare(declaration, **limits).limit


@pytest.mark.parametrize(
    ("declaration", "limits"),
    [
        (latency.DECLARATION, {"us": 0}),
        (latency.DECLARATION, {"ms": 1, "us": 1}),
        (latency.DECLARATION, {"ms": 1, "statistic": "mean"}),
        (memory.DECLARATION, {"model_kb": 0}),
        (energy.ENERGY, {"uj": 0}),
        (energy.ENERGY, {"uj": 1, "mode": "XP"}),
        (energy.POWER, {"mw": 0}),
        (energy.POWER, {"mw": 1, "mode": "XP"}),
        (npu.DECLARATION, {"min_coverage": 1.001}),
        (npu.DECLARATION, {"forbid_cpu_ops": False}),
        (npu.DECLARATION, {"forbid_cpu_ops": 3}),
        (accuracy.DECLARATION, {"min": 1.001}),
        (accuracy.DECLARATION, {"max_drop": 1.001}),
        (accuracy.DECLARATION, {"min_r2": 1.001}),
        (accuracy.DECLARATION, {"min_r2": 0.5, "top_k": 2}),
        (accuracy.DECLARATION, {"min_r2": 0.5, "min": 0}),
        (accuracy.DECLARATION, {"min": 0.5, "output": True}),
        (accuracy.DECLARATION, {"min": 0.5, "against": 3}),
        (sensitivity.DECLARATION, {"min": 1.001}),
        (outputs.DECLARATION, {"lsb": -LEAST}),
        (outputs.DECLARATION, {"rtol": math.inf}),
        (outputs.DECLARATION, {"reference": "pc"}),
    ],
)
def test_the_first_value_beyond_a_range_is_refused(
    declaration: Declaration, limits: dict[str, Any]
) -> None:
    with pytest.raises(LimitError):
        declare(declaration, **limits)


@pytest.mark.parametrize("least", [0, 1])
def test_a_count_is_a_whole_number_from_its_least_on(least: int) -> None:
    check_count("n", least, least)
    with pytest.raises(ValueError, match=f"n must be at least {least}, not {least - 1}"):
        check_count("n", least - 1, least)
    for value in (True, 2.0, "2"):
        with pytest.raises(TypeError, match="n must be a whole number"):
            check_count("n", value, least)


def test_a_choice_is_told_what_there_is() -> None:
    check_choice("mode", "LP", ("HP", "LP"))
    check_choice("mode", None, (None, "LP"))
    with pytest.raises(ValueError, match=r"mode='x' is not one of HP, LP$"):
        check_choice("mode", "x", (None, "HP", "LP"))


def test_a_budget_is_in_microseconds() -> None:
    assert declare(latency.DECLARATION, us=2.5).limit.us == 2.5
    assert declare(npu.DECLARATION, ms=2.5).limit.us == 2500


@pytest.mark.parametrize(
    ("group", "unit", "baseline", "floor"),
    [
        ("latency", "us", 1e6, 10),
        ("per_layer", "us", 1e6, 10),
        ("energy", "uJ", 1e6, 0.1),
        ("outputs", "steps", 40, 1),
        ("outputs", "real", 0.5, 0.5),  # a distance of real values may double
        ("outputs", "real", 1e-9, 1e-6),
        ("model_size", "B", 1e6, 1024),
        ("arena", "B", 1e6, 0),
    ],
)
def test_a_value_may_be_worse_by_its_floor(
    group: str, unit: str, baseline: float, floor: float
) -> None:
    assert default_regression().floor(group, unit, baseline) == floor


def test_a_floor_is_what_its_keyword_says() -> None:
    limit = declare(REGRESSION, floor_us=3, floor_uj=0).limit
    assert limit.floor("latency", "us", 1e6) == limit.floor("per_layer", "us", 1e6) == 3
    assert limit.floor("energy", "uJ", 1e6) == 0
    with pytest.raises(LimitError, match="floor_us must be at least 0, not -1"):
        declare(REGRESSION, floor_us=-1)


def test_a_group_is_told_by_its_measurements_and_measured_by_its_test() -> None:
    limit = default_regression()
    groups = {
        name: limit.group_of(name)
        for name in ("latency_median", "arena_used", "arena_tuned", "model_size", "energy_lp")
    }
    assert list(groups.values()) == ["latency", "arena", "arena", "model_size", "energy"]
    assert limit.group_of("latency_p95") is None
    assert limit.suite_test("latency") == "test_latency"
    assert limit.suite_test("per_layer") == "test_layer_profile"


@pytest.mark.parametrize(
    ("text", "percent"), [("0%", 0), ("5%", 5), ("2.5%", 2.5), ("off", None), ("1e2%", 100)]
)
def test_a_percentage_is_taken_and_named(text: str, percent: float | None) -> None:
    limit = declare(REGRESSION, latency=text).limit
    assert limit.percent["latency"] == percent
    assert limit.asked == (frozenset() if percent is None else {"latency"})
    assert limit.percent["per_layer"] == 10


@pytest.mark.parametrize("text", ["5", "%", "-1%", "nan%", "inf%", "5%%", "5% ", "x%", 0.05, ""])
def test_what_is_no_percentage_is_refused(text: Any) -> None:
    with pytest.raises(LimitError, match="latency must be a percentage such as '5%', or 'off'"):
        declare(REGRESSION, latency=text)


def test_a_comparison_of_nothing_is_refused() -> None:
    groups = ("latency", "per_layer", "arena", "model_size", "energy", "outputs")
    with pytest.raises(LimitError, match="everything is off: nothing is left to compare"):
        declare(REGRESSION, **dict.fromkeys(groups, "off"))
    assert declare(REGRESSION, **dict.fromkeys(groups[1:], "off")).limit


@pytest.mark.parametrize(
    ("tolerance", "dtype", "in_steps", "text"),
    [
        (Tolerance(), "int8", True, "1 step"),
        (Tolerance(lsb=0), "int8", True, "0 steps"),
        (Tolerance(lsb=2, atol=0.1), "int16", True, "2 steps"),
        (Tolerance(atol=0.1), "int8", False, "atol 0.1"),
        (Tolerance(atol=0.0, rtol=0.01), "uint8", False, "atol 0, rtol 0.01"),
        (Tolerance(rtol=0.01), "float32", False, "rtol 0.01"),
        (Tolerance(lsb=2), "float32", False, "rtol 0.0001 of the output's peak"),
        (Tolerance(), "float16", False, "rtol 0.001 of the output's peak"),
        (Tolerance(atol=0.1), "bool", True, "equal"),
    ],
)
def test_a_tolerance_is_in_the_unit_of_its_output(
    tolerance: Tolerance, dtype: str, in_steps: bool, text: str
) -> None:
    assert (tolerance.in_steps(dtype), tolerance.text(dtype)) == (in_steps, text)


def test_floats_may_be_off_by_what_rounding_explains() -> None:
    assert DEFAULT_PEAK_RTOL == {"float16": 1e-3, "float32": 1e-4, "float64": 1e-4}
    assert [steps_text(steps) for steps in (0, 1, 1.5, 2)] == [
        *("0 steps", "1 step", "1.5 steps", "2 steps"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("ms=1", 1), ("ms=1.5", 1.5), ("ms=1e3", 1000), ("ms=x", "x"), ("ms=TRUE", True)],
)
def test_values_of_text_are_numbers_where_they_can_be(text: str, value: object) -> None:
    (one,) = written_text(latency.DECLARATION, text, "option")
    assert one.keywords == {"ms": value}
    assert type(one.keywords["ms"]) is type(value)


def test_limits_of_a_text_are_parted_by_semicolons_and_lines() -> None:
    found = written_text(energy.ENERGY, "uj=1;uj=2,mode=LP\n\n", "ini", 3)
    assert [(each.keywords, each.level) for each in found] == [
        ({"uj": 1}, 3),
        ({"uj": 2, "mode": "LP"}, 3),
    ]


@pytest.mark.parametrize("text", ["us=1,us=2", "us=1,", "us", "off,us=1"])
def test_a_text_says_each_keyword_once(text: str) -> None:
    with pytest.raises(LimitError):
        written_text(latency.DECLARATION, text, "option")


def near(text: str, level: int, declaration: Declaration = energy.ENERGY) -> Any:
    return written_text(declaration, text, f"level {level}", level)


def limits(*every: Any) -> list[tuple[str, str]]:
    return [(each.text, each.origin) for each in merge(one for some in every for one in some)]


def test_off_takes_away_what_is_farther_and_nothing_nearer() -> None:
    far, mine = near("uj=5", 2), near("uj=3", 0)
    assert limits(near("off", 1), far, mine) == [("energy_limit(uj=3)", "level 0")]
    assert limits(near("off", 2), far) == [("energy_limit(uj=5)", "level 2")]


def test_off_of_one_mode_leaves_the_other() -> None:
    far = near("uj=5;uj=4,mode=LP", 1)
    assert limits(near("off,mode=LP", 0), far) == [("energy_limit(uj=5)", "level 1")]
    assert limits(near("off", 0), far) == []


def test_off_leaves_the_limits_of_other_metrics() -> None:
    far = near("mw=5", 1, energy.POWER)
    assert limits(near("off", 0), far) == [("power_limit(mw=5)", "level 1")]


def test_of_each_keyword_the_closest_counts() -> None:
    found = limits(
        near("us=900", 0, latency.DECLARATION),
        near("ms=5", 1, latency.DECLARATION),
        near("ms=7,statistic=p95", 1, latency.DECLARATION),
    )
    assert found == [
        ("latency_budget(us=900)", "level 0 and level 1"),
        ("latency_budget(ms=7, statistic='p95')", "level 1"),
    ]


def test_the_same_limit_twice_at_one_place_is_a_mistake() -> None:
    for one, other in (("us=1", "ms=2"), ("us=1", "us=1"), ("off", "off")):
        with pytest.raises(LimitError, match="is declared at the same place; keep one of them"):
            merge([*near(one, 0, latency.DECLARATION), *near(other, 0, latency.DECLARATION)])
    assert limits(
        near("us=1", 0, latency.DECLARATION), near("us=2,statistic=max", 0, latency.DECLARATION)
    )
    assert limits(near("uj=1", 0), near("mw=2", 0, energy.POWER))


def test_a_marker_takes_keywords_or_off_and_which_limit_that_is_about() -> None:
    off = written(energy.ENERGY, ("off",), {"mode": "LP"}, "marker")
    assert (off.off, off.text) == (True, "energy_limit('off', mode='LP')")
    for args, keywords in ((("off",), {"uj": 3}), ((3,), {}), (("off", "off"), {}), ((), {"x": 1})):
        with pytest.raises(LimitError, match=r"use energy_limit\(uj=, mode='HP'\)"):
            written(energy.ENERGY, args, keywords, "marker")


def test_a_limit_knows_whether_the_test_declares_it() -> None:
    assert declare(energy.ENERGY, uj=1).by_marker
    assert not declare_text(energy.ENERGY, "uj=1", "--tflite-energy-limit").by_marker
    assert not declare(energy.ENERGY, "default", uj=1).by_marker


def test_what_is_estimated_has_a_fixture_of_its_own() -> None:
    assert npu.DECLARATION.fixture == "npu_estimate"
    assert {each.fixture for each in (latency.DECLARATION, energy.ENERGY)} == {"model_session"}
