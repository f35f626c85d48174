"""Entries of baselines: a model of four layers on the simulated board."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_autodeploy.baseline.format import Baseline, Conditions, Entry, Layers, LayerTime, Metric

CONDITIONS = Conditions(
    board="apollo4p_evb",
    kind="simulated",
    core="cortex-m4f",
    source="modelled",
    engine="tflm",
    clock="HP",
    clock_hz=192_000_000,
)
LAYERS = (
    LayerTime("CONV_2D", 5000, 0, 40_000),
    LayerTime("DEPTHWISE_CONV_2D", 2000, 0, 9000),
    LayerTime("CONV_2D", 3000, 0, 20_000),
    LayerTime("SOFTMAX", 80, 0, 0),
)
ENTRY = Entry(
    CONDITIONS,
    {
        "latency_median": Metric(10_080, "us", "lower", "modelled", 0, 10),
        "arena_used": Metric(4000, "B", "lower", "modelled"),
        "model_size": Metric(20_000, "B", "lower", "exact"),
        "energy_hp": Metric(250, "uJ", "lower", "modelled", 1, 5),
        "output_distance": Metric(1, "steps", "lower", "modelled"),
    },
    Layers("warm", "modelled", LAYERS, 10),
    {"model_sha256": "ab" * 32, "build_id": "sim-1", "engine_version": "1"},
)


def baseline(entry: Entry = ENTRY) -> Baseline:
    """A file with one clock mode."""
    return Baseline("kws", "models/kws.tflite", {entry.conditions.clock: entry})


def with_metric(name: str, value: float, **changes: Any) -> Entry:
    """The entry with another value of a metric."""
    metric = replace(ENTRY.metrics[name], value=value, **changes)
    return replace(ENTRY, metrics={**ENTRY.metrics, name: metric})


def with_layers(*layers: LayerTime) -> Entry:
    """The entry with other layers."""
    return replace(ENTRY, layers=Layers("warm", "modelled", layers, 10))
