"""Comparing what was measured with its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_autodeploy.baseline.comparable import why_not, why_not_layers, why_not_metric
from pytest_autodeploy.baseline.format import Entry, Layers, LayerTime, Metric
from pytest_autodeploy.baseline.layers import graph_change, match_layers
from pytest_autodeploy.baseline.precision import smallest_difference
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison, Row, State

ROUNDING = 1e-8
"""Values are kept to nine digits."""


def compare(
    baseline: Entry, now: Entry, limit: NoRegression, file: str, *, judge_layers: bool = True
) -> Comparison:
    """Hold ``now`` against a baseline.

    A value is worse when it is worse by more than the largest of three: the percentage of the
    baseline, the absolute floor, and the smallest difference that the repeats can tell apart.
    Without ``judge_layers`` the layers explain a change and are no regression of their own.
    """
    result = Comparison(
        "within",
        file,
        baseline_sha256=baseline.model_sha256,
        model_changed=baseline.model_sha256 != now.model_sha256,
    )
    reasons = why_not(baseline.conditions, now.conditions)
    if reasons:
        return replace(result, state="not comparable", reasons=tuple(reasons))
    pairs = {
        name: (baseline.metrics.get(name), metric)
        for name, metric in sorted(now.metrics.items())
        if limit.percent[limit.group_of(name) or ""] is not None
    }
    rows = tuple(_metric_rows(pairs, limit))
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
            layers = tuple(_layer_rows(baseline.layers, now.layers, limit))
            graph = graph_change(baseline.layers.layers, now.layers.layers)
        elif judge_layers:
            reasons.append(unlike)
    return replace(
        result,
        state=_state([*rows, *(layers if judge_layers else ())], reasons, missing),
        rows=rows,
        layers=layers,
        reasons=tuple(reasons),
        missing=tuple(missing),
        graph=graph,
    )


def _metric_rows(
    pairs: dict[str, tuple[Metric | None, Metric]], limit: NoRegression
) -> Iterator[Row]:
    for name, (before, metric) in pairs.items():
        if before is None or why_not_metric(name, before, metric):
            continue
        group = limit.group_of(name) or ""
        floor = limit.floor(group, metric.unit, before.value)
        repeats = smallest_difference(
            (before.spread, before.repeats), (metric.spread, metric.repeats)
        )
        row = Row(name, metric.unit, metric.source, before.value, metric.value, 0, 0, "", "")
        yield _judged(row, metric.better, limit.percent[group], floor, repeats)


def _layer_rows(baseline: Layers, now: Layers, limit: NoRegression) -> Iterator[Row]:
    """Layers in running order; their names are number and operator."""
    percent = limit.percent["per_layer"]
    for old, new in match_layers(baseline.layers, now.layers):
        before = None if old is None else baseline.layers[old]
        after = None if new is None else now.layers[new]
        name = _layer_name(old, before, new, after)
        times = (before.us if before else None, after.us if after else None)
        row = Row(name, "us", now.source, *times, 0, 0, "", "")
        if before and after:
            repeats = smallest_difference(
                (before.spread_us, baseline.repeats), (after.spread_us, now.repeats)
            )
            judged = _judged(row, "lower", percent, limit.floors["floor_us"], repeats)
            yield judged if percent is not None else replace(judged, state="within")
        elif after:
            yield replace(row, worse=after.us, state="new")
        elif before:
            yield replace(row, worse=-before.us, state="gone")


def _layer_name(
    old: int | None, before: LayerTime | None, new: int | None, after: LayerTime | None
) -> str:
    layer = after or before
    assert layer
    return f"#{old if new is None else new} {layer.operator}"


def _judged(row: Row, better: str, percent: float | None, floor: float, repeats: float) -> Row:
    """Fill in the change and what is allowed: the most of the three, the percentage if equal."""
    assert row.baseline is not None
    assert row.now is not None
    percentage = (percent or 0) * abs(row.baseline) / 100
    allowed, by = max(
        ((percentage, "percentage"), (floor, "floor"), (repeats, "repeats")),
        key=lambda pair: pair[0],
    )
    worse = row.baseline - row.now if better == "higher" else row.now - row.baseline
    beyond = allowed + ROUNDING * abs(row.baseline)
    state = "regression" if worse > beyond else "improved" if worse < -beyond else "within"
    return replace(row, worse=worse, allowed=allowed, by=by, state=state)


def _state(judged: Sequence[Row], reasons: Sequence[str], missing: Sequence[str]) -> State:
    states = {row.state for row in judged}
    if "regression" in states:
        return "regression"
    if reasons:
        return "not comparable"
    if missing:
        return "no baseline"
    return "improved" if "improved" in states else "within"
