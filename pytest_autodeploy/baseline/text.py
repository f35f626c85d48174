"""A baseline as JSON text: keys in order, a line per metric and layer, so that diffs are short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

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

_RESTORE = "restore it from version control, or delete it and make a new one"


def baseline_text(baseline: Baseline) -> str:
    """Render a baseline; the same content gives the same text."""
    plain = {
        "schema": SCHEMA,
        "model": baseline.model,
        "file": baseline.file,
        "entries": {clock: _entry(entry) for clock, entry in baseline.entries.items()},
    }
    return f"{_rendered(plain, '')}\n"


def parse_baseline(text: str, name: str) -> Baseline:
    """Read what ``baseline_text`` wrote; ``name`` is the file in errors. Raises BaselineError."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise BaselineError(f"{name} is damaged: {error}", hint=_RESTORE) from None
    except RecursionError:
        raise BaselineError(f"{name} is damaged: nested too deeply", hint=_RESTORE) from None
    if not isinstance(plain, dict) or not isinstance(plain.get("schema"), int):
        raise BaselineError(f"{name} is damaged: no baseline with a schema", hint=_RESTORE)
    if plain["schema"] > SCHEMA:
        raise BaselineError(
            f"{name} has schema {plain['schema']}, this version knows up to {SCHEMA}",
            hint="a newer version wrote it: upgrade pytest-autodeploy",
        )
    try:
        entries = {str(clock): _read_entry(entry) for clock, entry in plain["entries"].items()}
        return Baseline(str(plain["model"]), str(plain["file"]), entries)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        what = f"{type(error).__name__} {error}"
        raise BaselineError(f"{name} is damaged: {what}", hint=_RESTORE) from None


def _rendered(value: Any, indent: str) -> str:
    """JSON with containers of plain values on one line."""
    items = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list) or not any(
        isinstance(item, Mapping | list) for item in items
    ):
        return json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False)
    inner = f"{indent}  "
    if isinstance(value, Mapping):
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_rendered(value[key], inner)}"
            for key in sorted(value)
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    lines = [f"{inner}{_rendered(item, inner)}" for item in value]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]"


def _entry(entry: Entry) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "conditions": asdict(entry.conditions),
        "provenance": dict(entry.provenance),
        "metrics": {name: _known(asdict(metric)) for name, metric in entry.metrics.items()},
    }
    if entry.layers:
        layers = [_known(asdict(layer)) for layer in entry.layers.layers]
        plain["layers"] = asdict(entry.layers) | {"layers": layers}
    return plain


def _known(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if value is not None}


def _read_entry(plain: Mapping[str, Any]) -> Entry:
    layers = plain.get("layers")
    return Entry(
        Conditions(**_checked(plain["conditions"], Conditions)),
        {str(k): Metric(**_checked(metric, Metric)) for k, metric in plain["metrics"].items()},
        _read_layers(layers) if layers else None,
        {str(key): str(value) for key, value in plain["provenance"].items()},
    )


def _read_layers(plain: Mapping[str, Any]) -> Layers:
    layers = tuple(LayerTime(**_checked(layer, LayerTime)) for layer in plain["layers"])
    return Layers(str(plain["run"]), str(plain["source"]), layers, int(plain["repeats"]))


_NUMBERS = ("value", "us", "clock_hz", "spread", "spread_us", "repeats", "macs")


def _checked(plain: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields of ``kind``; raises TypeError for one of a wrong type."""
    fields = {key: plain[key] for key in kind.__dataclass_fields__ if key in plain}  # type: ignore[attr-defined]
    for key, value in fields.items():
        right = (int, float) if key in _NUMBERS else str
        if not isinstance(value, right) or isinstance(value, bool):
            raise TypeError(f"of {key} {value!r}")
    return fields
