"""What a baseline file holds: metrics and layers of one model on one board type, per clock mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = 1
"""Version of the file format."""


@dataclass(frozen=True)
class Metric:
    """A value and its ``spread``: the standard deviation of ``repeats``, None of a single one."""

    value: float
    unit: str
    better: str
    source: str
    spread: float | None = None
    repeats: int = 1


@dataclass(frozen=True)
class LayerTime:
    """One layer in running order: microseconds, the deviation of their repeats, MACs if known."""

    operator: str
    us: float
    spread_us: float | None = None
    macs: int | None = None


@dataclass(frozen=True)
class Layers:
    """All layers of an inference, the ``first`` or a ``warm`` one; medians of ``repeats``."""

    run: str
    source: str
    layers: tuple[LayerTime, ...]
    repeats: int = 1


@dataclass(frozen=True)
class Conditions:
    """What must be the same for two values to be compared."""

    board: str
    kind: str
    core: str
    source: str
    engine: str
    clock: str
    clock_hz: int


@dataclass(frozen=True)
class Entry:
    """What was measured in one clock mode; ``provenance`` is shown, never compared."""

    conditions: Conditions
    metrics: Mapping[str, Metric]
    layers: Layers | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def model_sha256(self) -> str:
        """Hash of the model that was measured."""
        return self.provenance.get("model_sha256", "")


@dataclass(frozen=True)
class Baseline:
    """The content of one file; ``file`` is the model's, relative to the root folder."""

    model: str
    file: str
    entries: Mapping[str, Entry]
    """By clock mode."""


PROVENANCE = ("build_id", "engine_version", "toolchain")
"""Facts of a board that are kept as provenance."""


def entry_of(record: Mapping[str, Any], plugin_version: str = "") -> Entry:
    """The entry of a record, or of records merged: its board, measurements and profile."""
    board = record["board"]
    provenance = {name: str(board[name]) for name in PROVENANCE if board.get(name)}
    provenance["model_sha256"] = record["model"]["sha256"]
    if plugin_version:
        provenance["plugin_version"] = plugin_version
    return Entry(
        Conditions(
            board=board["name"],
            kind=board["kind"],
            core=board["core"],
            source=board["source"],
            engine=board["engine"],
            clock=board["clock"],
            clock_hz=int(board["clock_hz"]),
        ),
        {item["name"]: _metric(item) for item in record["measurements"] if _is_kept(item)},
        _layers(record.get("profile")),
        provenance,
    )


GROUPS: Mapping[str, tuple[str, ...]] = {
    "latency": ("latency_median",),
    "energy": ("energy_hp", "energy_lp"),
    "arena": ("arena_used", "arena_tuned"),
    "model_size": ("model_size",),
    "outputs": ("output_distance",),
}
"""The metrics of each threshold."""


def group_of(metric: str) -> str | None:
    """The threshold that a metric is held against, None for one that is not kept."""
    return next((group for group, names in GROUPS.items() if metric in names), None)


def _is_kept(measurement: Mapping[str, Any]) -> bool:
    known = group_of(measurement["name"]) is not None
    return known and math.isfinite(measurement["value"])


def _metric(measurement: Mapping[str, Any]) -> Metric:
    return Metric(
        value=plain_number(measurement["value"]),
        unit=measurement["unit"],
        better=measurement["better"],
        source=measurement["source"],
        spread=_optional(measurement.get("spread")),
        repeats=measurement.get("repeats", 1),
    )


def _layers(profile: Mapping[str, Any] | None) -> Layers | None:
    if not profile:
        return None
    layers = tuple(
        LayerTime(
            operator=layer["tag"],
            us=plain_number(layer["us"]),
            spread_us=_optional(layer.get("spread_us")),
            macs=layer["macs"],
        )
        for layer in profile["layers"]
    )
    return Layers(profile["run"], profile["source"], layers, profile.get("repeats", 1))


def _optional(value: float | None) -> float | None:
    return None if value is None else plain_number(value)


def plain_number(value: float) -> float:
    """A value as a file keeps it: whole numbers exactly, others to nine digits."""
    return int(value) if value == int(value) else float(f"{value:.9g}")
