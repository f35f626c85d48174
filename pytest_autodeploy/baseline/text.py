"""A baseline as JSON text: keys in order, a line per metric and layer, so that diffs are short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, get_args

from pytest_autodeploy.base.measurement import Better
from pytest_autodeploy.base.repeats import MOST_MEMORY
from pytest_autodeploy.base.text import one_line, writable
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import (
    SCHEMA,
    Baseline,
    Conditions,
    Entry,
    Layers,
    LayerTime,
    Metric,
)
from pytest_autodeploy.baseline.part import LARGEST, RESTORE, Part
from pytest_autodeploy.baseline.precision import MEDIAN_ERROR

_NEVER_NEGATIVE = ("us", "B", "uJ", "mW", "steps", "real")
"""Units of times, sizes, energies, powers and distances."""


def baseline_text(baseline: Baseline) -> str:
    """Render a baseline; the same content gives the same text."""
    plain = {
        "schema": SCHEMA,
        "model": baseline.model,
        "file": baseline.file,
        "entries": {clock: _entry(entry) for clock, entry in baseline.entries.items()},
    }
    return f"{_render(plain, '')}\n"


def parse_baseline(text: str, name: str) -> Baseline:
    """Read what ``baseline_text`` wrote; ``name`` is the file in errors.

    Raises BaselineError, with the place and the key, for what it would never have written: other
    types, numbers that are not finite or out of range, keys that are missing or there twice.
    """
    try:
        plain = json.loads(text, parse_int=_whole, object_pairs_hook=_once)
    except ValueError as error:
        raise BaselineError(f"{name} is damaged: {error}", hint=RESTORE) from None
    except RecursionError:
        raise BaselineError(f"{name} is damaged: nested too deeply", hint=RESTORE) from None
    if not isinstance(plain, dict) or "schema" not in plain:
        raise BaselineError(f"{name} is damaged: no baseline with a schema", hint=RESTORE)
    file = Part(name, "", plain)
    schema = file.whole("schema", 1)
    if schema > SCHEMA:
        raise BaselineError(
            f"{name} has schema {schema}, this version knows up to {SCHEMA}",
            hint="a newer version wrote it: upgrade pytest-autodeploy",
        )
    entries = {clock: _read_entry(entry) for clock, entry in file.parts("entries").items()}
    if schema == 1:
        entries = {clock: _from_format_1(entry) for clock, entry in entries.items()}
    return Baseline(file.text("model"), file.text("file"), entries, schema)


def _from_format_1(entry: Entry) -> Entry:
    """An entry of format 1, whose latency is a median and not compared by the mean.

    Its deviation makes up for the larger error of a median. What outliers it had is in it, and how
    starts differ was not measured.
    """
    metrics = {
        name: replace(metric, spread=MEDIAN_ERROR * metric.spread)
        if name == "latency_median" and metric.spread is not None
        else metric
        for name, metric in entry.metrics.items()
    }
    return replace(entry, metrics=metrics)


def _whole(digits: str) -> float:
    """A whole number; one of hundreds of digits is out of every range, and slow to read."""
    return int(digits) if len(digits) < 30 else float(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raises ValueError for a key that a careless merge left there twice."""
    plain = dict(pairs)
    if len(plain) < len(pairs):
        twice = next(key for key in plain if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {one_line(writable(twice), 60)} is there twice")
    return plain


def _render(value: Any, indent: str) -> str:
    """JSON with containers of plain values on one line."""
    items = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list) or not any(
        isinstance(item, Mapping | list) for item in items
    ):
        return json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False)
    inner = f"{indent}  "
    if isinstance(value, Mapping):
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_render(value[key], inner)}"
            for key in sorted(value)
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    lines = [f"{inner}{_render(item, inner)}" for item in value]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]"


def _entry(entry: Entry) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "conditions": asdict(entry.conditions),
        "provenance": dict(entry.provenance),
        "metrics": {name: _known(asdict(metric)) for name, metric in entry.metrics.items()},
    }
    if entry.layers:
        layers = [_known(asdict(layer)) for layer in entry.layers.layers]
        plain["layers"] = _known(asdict(entry.layers)) | {"layers": layers}
    return plain


def _known(plain: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing: None, and what is the same of most values."""
    usual = {"update": 1, "outliers": 0, "starts": 1, "memory": 0}
    return {k: v for k, v in plain.items() if v is not None and (k not in usual or v != usual[k])}


def _read_entry(entry: Part) -> Entry:
    return Entry(
        _read_conditions(entry.part("conditions")),
        {name: _read_metric(metric) for name, metric in entry.parts("metrics").items()},
        _read_layers(entry.part("layers")) if "layers" in entry.plain else None,
        entry.texts("provenance"),
    )


def _read_conditions(part: Part) -> Conditions:
    return Conditions(
        board=part.text("board"),
        kind=part.text("kind"),
        core=part.text("core"),
        source=part.text("source"),
        engine=part.text("engine"),
        clock=part.text("clock"),
        clock_hz=part.whole("clock_hz", 0),
        memories=part.text("memories") if "memories" in part.plain else "",
    )


def _read_metric(part: Part) -> Metric:
    unit = part.text("unit")
    least = 0 if unit in _NEVER_NEGATIVE else -LARGEST
    repeats = part.whole("repeats", 1)
    return Metric(
        value=part.number("value", least),
        unit=unit,
        better=part.text("better", get_args(Better)),
        source=part.text("source"),
        spread=part.spread("spread"),
        repeats=repeats,
        update=_update(part),
        centre=part.number("centre", least) if "centre" in part.plain else None,
        outliers=part.whole("outliers", 0, repeats - 1) if "outliers" in part.plain else 0,
        starts=part.whole("starts", 1, repeats) if "starts" in part.plain else 1,
        start_spread=part.spread("start_spread"),
        memory=part.number("memory", 0, MOST_MEMORY) if "memory" in part.plain else 0.0,
    )


def _update(part: Part) -> int:
    return part.whole("update", 1) if "update" in part.plain else 1


def _read_layers(part: Part) -> Layers:
    layers = tuple(
        LayerTime(
            operator=layer.text("operator"),
            us=layer.number("us", 0),
            spread_us=layer.spread("spread_us"),
            macs=layer.whole("macs", 0) if "macs" in layer.plain else None,
        )
        for layer in part.listed("layers")
    )
    run, source, repeats = part.text("run"), part.text("source"), part.whole("repeats", 1)
    return Layers(run, source, layers, repeats, _update(part))
