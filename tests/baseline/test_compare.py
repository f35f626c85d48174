"""Comparing with a baseline: thresholds, floors, noise, conditions, layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.comparison_text import block, headline, layers_to_blame
from pytest_autodeploy.baseline.format import Entry, LayerTime
from pytest_autodeploy.baseline.layers import match_layers
from pytest_autodeploy.limits.declarations import REGRESSION
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.metrics.comparison import Comparison, Row, merge_comparisons
from tests.helpers.baseline_examples import CONDITIONS, ENTRY, LAYERS, with_layers, with_metric


def compared(now: Entry, baseline: Entry = ENTRY, **limits: Any) -> Comparison:
    return compare(baseline, now, declare(REGRESSION, **limits).limit, "kws/board.json")


def row(comparison: Comparison, name: str) -> Row:
    return next(row for row in (*comparison.rows, *comparison.layers) if row.name == name)


def test_the_same_is_within() -> None:
    result = compared(ENTRY)
    assert result.state == "within"
    assert headline(result) == "5 metrics and 4 layers within what its baseline allows"


@pytest.mark.parametrize(
    ("metric", "value", "state"),
    [
        ("latency_median", 10_580, "within"),
        ("latency_median", 10_590, "regression"),
        ("latency_median", 9000, "improved"),
        ("arena_used", 4001, "regression"),
        ("arena_used", 3999, "improved"),
        ("model_size", 21_000, "within"),
        ("model_size", 21_100, "regression"),
        ("energy_hp", 262, "within"),
        ("energy_hp", 263, "regression"),
        ("output_distance", 2, "within"),
        ("output_distance", 3, "regression"),
    ],
)
def test_each_metric_has_its_threshold(metric: str, value: float, state: str) -> None:
    result = compared(with_metric(metric, value))
    assert row(result, metric).state == state
    assert result.state == state


def test_the_floor_counts_where_a_percentage_is_too_small() -> None:
    tiny = with_metric("latency_median", 100)
    assert compared(with_metric("latency_median", 109), tiny).state == "within"
    assert compared(with_metric("latency_median", 109), tiny, floor_us=1).state == "regression"


def test_what_repeats_cannot_tell_apart_is_not_within() -> None:
    noisy = with_metric("latency_median", 10_080, spread=800.0)
    now = with_metric("latency_median", 10_980, spread=800.0)
    result = compared(now, noisy)
    assert row(result, "latency_median").by == "repeats"
    assert result.state == "cannot tell"
    assert headline(result) == (
        "cannot tell: latency_median -3.89 to +21.7 %, threshold 5 % "
        "(repeats differ by 7.9 %, 10 repeats in the baseline and 10 now)"
    )
    steady = with_metric("latency_median", 10_980, spread=80.0)
    assert compared(steady, with_metric("latency_median", 10_080, spread=80.0)).state == (
        "regression"
    )


def test_higher_can_be_better() -> None:
    before = with_metric("energy_hp", 100, better="higher")
    assert compared(with_metric("energy_hp", 80, better="higher"), before).state == "regression"
    assert compared(with_metric("energy_hp", 120, better="higher"), before).state == "improved"


def test_a_group_can_be_left_out() -> None:
    slower = with_metric("latency_median", 99_999)
    assert compared(slower, latency="off").state == "within"
    assert compared(slower, latency="1000%").state == "within"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "measured", "kind": "hardware"}, "figures measured, of the baseline modelled"),
        ({"board": "apollo3p_evb"}, "board apollo3p_evb, of the baseline apollo4p_evb"),
        ({"clock": "LP"}, "clock mode LP, of the baseline HP"),
        ({"clock_hz": 96_000_000}, "clock 96.0 MHz, of the baseline 192.0 MHz"),
        ({"engine": "helia"}, "engine helia, of the baseline tflm"),
    ],
)
def test_other_conditions_are_not_comparable(change: dict[str, Any], reason: str) -> None:
    result = compared(replace(ENTRY, conditions=replace(CONDITIONS, **change)))
    assert result.state == "not comparable"
    assert reason in result.reasons
    assert not result.rows
    assert headline(result).startswith("cannot be held against its baseline: ")


def test_a_metric_of_another_source_is_not_comparable() -> None:
    result = compared(with_metric("energy_hp", 250, source="measured"))
    assert result.state == "not comparable"
    assert result.reasons == ("energy_hp: source measured, of the baseline modelled",)


def test_another_run_of_the_layers_is_not_comparable() -> None:
    assert ENTRY.layers
    first = replace(ENTRY, layers=replace(ENTRY.layers, run="first"))
    assert compared(first).reasons == ("layers: of the first inference, of the baseline warm",)


def test_what_the_baseline_lacks_is_told() -> None:
    metrics = {key: value for key, value in ENTRY.metrics.items() if key != "energy_hp"}
    result = compared(ENTRY, replace(ENTRY, metrics=metrics, layers=None))
    assert result.state == "no baseline"
    assert result.missing == ("energy_hp", "layers")


def test_another_model_is_the_normal_case_and_shown() -> None:
    other = replace(ENTRY, provenance={"model_sha256": "cd" * 32})
    result = compared(other)
    assert result.state == "within"
    line = block(result, "x", "cd" * 32)[1]
    assert "of model abababababab; the model changed, it is now cdcdcdcdcdcd" in line


class TestLayers:
    def test_a_slower_layer_is_named_though_the_sum_is_the_same(self) -> None:
        layers = (replace(LAYERS[0], us=5600), replace(LAYERS[1], us=1400), *LAYERS[2:])
        result = compared(with_layers(*layers))
        assert result.state == "regression"
        assert headline(result) == "worse than its baseline: #0 CONV_2D +12 %"

    def test_the_floor_holds_for_layers(self) -> None:
        assert compared(with_layers(*LAYERS[:3], replace(LAYERS[3], us=89))).state == "within"

    def test_the_worst_is_blamed_first(self) -> None:
        layers = (replace(LAYERS[0], us=6000), LAYERS[1], replace(LAYERS[2], us=6000), LAYERS[3])
        blamed = layers_to_blame(compared(with_layers(*layers)))
        assert [row.name for row in blamed] == ["#2 CONV_2D", "#0 CONV_2D"]

    def test_a_new_layer_is_told_and_the_others_are_matched(self) -> None:
        new = LayerTime("RELU", 700, 0, 0)
        result = compared(with_layers(LAYERS[0], new, *LAYERS[1:]))
        assert result.graph == "the graph changed: 5 layers, 4 before; new #1 RELU"
        assert [row.state for row in result.layers] == ["within", "new", *["within"] * 3]

    def test_a_layer_that_is_gone_is_told(self) -> None:
        result = compared(with_layers(LAYERS[0], *LAYERS[2:]))
        assert result.graph == "the graph changed: 3 layers, 4 before; gone #1 DEPTHWISE_CONV_2D"
        gone = row(result, "#1 DEPTHWISE_CONV_2D")
        assert (gone.state, gone.worse, gone.now) == ("gone", -LAYERS[1].us, None)
        assert (gone.allowed, gone.more_starts) == (0, 0)

    def test_a_layer_is_named_by_its_place_now(self) -> None:
        result = compared(with_layers(LayerTime("RELU", 700, 0, 0), *LAYERS))
        assert [row.name for row in result.layers][:2] == ["#0 RELU", f"#1 {LAYERS[0].operator}"]
        assert row(result, "#0 RELU").worse == 700

    def test_of_many_new_layers_the_first_five_are_named(self) -> None:
        new = [LayerTime("RELU", 700, 0, 0)] * 7
        change = compared(with_layers(*LAYERS, *new)).graph
        assert change.endswith("new #4 RELU, #5 RELU, #6 RELU, #7 RELU, #8 RELU and 2 more")

    def test_a_profile_without_layers_is_compared(self) -> None:
        assert {each.state for each in compared(with_layers()).layers} == {"gone"}

    def test_many_equal_layers_are_matched_one_by_one(self) -> None:
        many = [LayerTime("ADD", 1, None, 7)] * 300
        now = [LayerTime("RELU", 1, None, 7), *many]
        assert match_layers(many, now)[1:] == [(number, number + 1) for number in range(300)]

    def test_macs_tell_equal_operators_apart(self) -> None:
        now = (LayerTime("CONV_2D", 1, None, 7), *LAYERS)
        pairs = [(b, n) for b, n in match_layers(LAYERS, now) if b is not None]
        assert pairs == [(0, 1), (1, 2), (2, 3), (3, 4)]

    def test_without_judgement_they_only_explain(self) -> None:
        slow = with_layers(replace(LAYERS[0], us=9000), *LAYERS[1:])
        limit = declare(REGRESSION).limit
        assert compare(ENTRY, slow, limit, "f", judge_layers=False).state == "within"


def test_the_failure_is_a_short_table() -> None:
    slow = with_layers(replace(LAYERS[0], us=6290), *LAYERS[1:])
    now = replace(slow, metrics={**ENTRY.metrics, **with_metric("latency_median", 11_370).metrics})
    lines = block(compared(now), "no_regression() by marker", "ab" * 32)
    assert lines == [
        "  declared no_regression() by marker",
        "  baseline kws/board.json, of the same model",
        "  metric           baseline       now   change          allowed",
        "  arena_used        3.91 KB   3.91 KB        0              0 %",
        "  energy_hp        250.0 uJ  250.0 uJ        0              5 %",
        "  latency_median    10.1 ms   11.4 ms  +12.8 %              5 %  regression",
        "  model_size        19.5 KB   19.5 KB        0  1.00 KB (floor)",
        "  output_distance    1 step    1 step        0   1 step (floor)",
        "  layers that account for it, worst first",
        "    layer       baseline      now   change  allowed",
        "    #0 CONV_2D   5.00 ms  6.29 ms  +25.8 %     10 %  regression",
    ]


def test_comparisons_of_several_tests_become_one() -> None:
    slow = compared(with_metric("latency_median", 20_000))
    fine = replace(compared(with_layers(*LAYERS)), rows=())
    both = merge_comparisons([slow, fine])
    assert both
    assert both.state == "regression"
    assert len(both.rows) == 5
    assert merge_comparisons([]) is None


def test_another_placement_is_not_comparable_and_an_unknown_one_is() -> None:
    from dataclasses import replace

    from pytest_autodeploy.baseline.comparable import why_not
    from tests.helpers.baseline_examples import CONDITIONS

    fast, slow = (replace(CONDITIONS, memories=f"mram and {name}") for name in ("dtcm", "sram"))
    assert why_not(fast, slow) == [
        "model and arena in mram and sram, of the baseline mram and dtcm"
    ]
    assert why_not(CONDITIONS, fast) == []


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        (1e-5, 2e-5, "within"),
        (1e-5, 2.1e-5, "regression"),
        (0.0, 1e-6, "within"),
        (0.0, 2e-6, "regression"),
        (1e-9, 0.5, "regression"),  # half a step is no floor of real values
    ],
)
def test_a_distance_of_real_values_may_double_and_no_more(
    before: float, now: float, state: str
) -> None:
    old, new = (with_metric("output_distance", value, unit="real") for value in (before, now))
    assert row(compared(new, old), "output_distance").state == state


@pytest.mark.parametrize(("now", "state"), [(0, "within"), (5, "regression")])
def test_a_baseline_of_0_can_be_compared_with(now: float, state: str) -> None:
    old, new = (with_metric("energy_hp", value, spread=0) for value in (0, now))
    result = compared(new, old)
    assert row(result, "energy_hp").state == state
    assert "energy_hp" in "\n".join(block(result, "no_regression", "ab" * 32)) or state == "within"
