"""Comparing what was measured with its baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.comparable import is_exact, why_not, why_not_layers, why_not_metric
from pytest_autodeploy.baseline.format import Entry, LayerTime, Metric
from pytest_autodeploy.baseline.judgement import judge, single
from pytest_autodeploy.baseline.layers import graph_change, match_layers
from pytest_autodeploy.baseline.precision import ALPHA, MEDIAN_ERROR
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison, Row, State


def compare(
    baseline: Entry, now: Entry, limit: NoRegression, file: str, *, judge_layers: bool = True
) -> Comparison:
    """Hold ``now`` against a baseline.

    A value is worse when it is worse by more than the largest of three: the percentage of the
    baseline, the absolute floor, and the smallest difference that the noise of repeats and starts
    lets through. It cannot be told when it may be worse by more than twice the first two. Without
    ``judge_layers`` the layers explain a change and are no regression of their own.
    """
    result = _unfilled(baseline, now, file, judge_layers=judge_layers)
    reasons = why_not(baseline.conditions, now.conditions)
    if reasons:
        return replace(result, state="not comparable", reasons=tuple(reasons))
    pairs = {
        name: (baseline.metrics.get(name), metric)
        for name, metric in sorted(now.metrics.items())
        if limit.percent[limit.group_of(name) or ""] is not None
    }
    rows = tuple(_metric_rows(pairs, limit, exact=is_exact(now.conditions)))
    missing = [name for name, (before, _) in pairs.items() if before is None]
    reasons = [
        reason
        for name, (before, metric) in pairs.items()
        if before and (reason := why_not_metric(name, before, metric))
    ]
    layers, graph = tuple[Row, ...](), ""
    if now.layers and baseline.layers is None and judge_layers:
        missing.append("layers")
    elif now.layers and baseline.layers:
        unlike = why_not_layers(baseline.layers, now.layers)
        if unlike is None:
            layers = tuple(_layer_rows(baseline, now, limit))
            graph = graph_change(baseline.layers.layers, now.layers.layers)
        elif judge_layers:
            reasons.append(unlike)
    return replace(
        result,
        state=state_of([*rows, *(layers if judge_layers else ())], reasons, missing),
        rows=rows,
        layers=layers,
        reasons=tuple(reasons),
        missing=tuple(missing),
        graph=graph,
    )


def _unfilled(baseline: Entry, now: Entry, file: str, *, judge_layers: bool) -> Comparison:
    return Comparison(
        "within",
        file,
        baseline_sha256=baseline.model_sha256,
        model_changed=baseline.model_sha256 != now.model_sha256,
        layers_judged=judge_layers,
    )


def _metric_rows(
    pairs: dict[str, tuple[Metric | None, Metric]], limit: NoRegression, *, exact: bool
) -> Iterator[Row]:
    for name, (before, metric) in pairs.items():
        if before is None or why_not_metric(name, before, metric):
            continue
        group = limit.group_of(name) or ""
        floor = limit.floor(group, metric.unit, before.value)
        sides = before.repeated, metric.repeated
        row = Row(name, metric.unit, metric.source, sides[0].centre, sides[1].centre)
        judged = judge(row, metric.better, limit.percent[group], floor, sides)
        noisy = limit.groups[group].noisy and not exact
        yield single(judged, sides) if noisy else judged


def _layer_rows(baseline: Entry, now: Entry, limit: NoRegression) -> Iterator[Row]:
    """Layers in running order; their names are number and operator.

    All layers of a start share what it is off, so its noise is that of the latency.
    """
    assert baseline.layers
    assert now.layers
    percent, noise = limit.percent["per_layer"], _noise_of_starts(baseline)
    alpha = ALPHA / max(1, len(now.layers.layers))
    for old, new in match_layers(baseline.layers.layers, now.layers.layers):
        before = None if old is None else baseline.layers.layers[old]
        after = None if new is None else now.layers.layers[new]
        name = _layer_name(old, before, new, after)
        times = (before.us if before else None, after.us if after else None)
        row = Row(name, "us", now.layers.source, *times)
        if before and after:
            sides = (
                _layer(before, baseline.layers.repeats, noise),
                _layer(after, now.layers.repeats, None),
            )
            judged = judge(row, "lower", percent, limit.floors["floor_us"], sides, alpha)
            state = judged.state if percent is not None else "within"
            yield replace(judged, state=state, more_starts=0)
        elif after:
            yield replace(row, worse=after.us, state="new")
        elif before:
            yield replace(row, worse=-before.us, state="gone")


def _noise_of_starts(baseline: Entry) -> tuple[float, int] | None:
    """How much starts differ as a share of the latency, and how many of them told that."""
    latency = baseline.metrics.get("latency_median")
    if latency is None or latency.start_spread is None or not latency.repeated.centre:
        return None
    return latency.start_spread / latency.repeated.centre, latency.starts


def _layer(layer: LayerTime, repeats: int, noise: tuple[float, int] | None) -> Repeats:
    """A layer's median, whose error is larger than that of a mean."""
    spread = None if layer.spread_us is None else MEDIAN_ERROR * layer.spread_us
    if noise is None:
        return Repeats(layer.us, spread, repeats)
    share, starts = noise
    one_each = math.sqrt(2 / (1 + 1 / starts))  # a profile is of one start, on both sides
    return Repeats(layer.us, spread, repeats, 0, starts, one_each * share * layer.us)


def _layer_name(
    old: int | None, before: LayerTime | None, new: int | None, after: LayerTime | None
) -> str:
    layer = after or before
    assert layer
    return f"#{old if new is None else new} {layer.operator}"


def state_of(judged: Sequence[Row], reasons: Sequence[str], missing: Sequence[str]) -> State:
    """The state of a comparison: the worst of its rows, or what could not be compared."""
    states = {row.state for row in judged}
    if "regression" in states:
        return "regression"
    if reasons:
        return "not comparable"
    if "cannot tell" in states:
        return "cannot tell"
    if missing:
        return "no baseline"
    return "improved" if "improved" in states else "within"
