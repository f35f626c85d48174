"""Whether two sets of values may be compared at all, and if not why."""

from __future__ import annotations

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.baseline.format import Conditions, Layers, Metric
from pytest_autodeploy.catalog.kinds import KINDS

_WORDS = {
    "source": "figures",
    "kind": "kind of board",
    "board": "board",
    "core": "core",
    "engine": "engine",
    "clock": "clock mode",
    "clock_hz": "clock",
    "memories": "model and arena in",
}


def why_not(baseline: Conditions, now: Conditions) -> list[str]:
    """What differs between two conditions, in words; empty when they can be compared."""
    return [
        f"{text} {_shown(name, getattr(now, name))}, of the baseline "
        f"{_shown(name, getattr(baseline, name))}"
        for name, text in _WORDS.items()
        if getattr(now, name) != getattr(baseline, name) and _known(name, baseline, now)
    ]


def _known(name: str, baseline: Conditions, now: Conditions) -> bool:
    """Baselines of before do not say the memories: that alone is no difference."""
    return name != "memories" or bool(baseline.memories and now.memories)


def is_exact(conditions: Conditions) -> bool:
    """Whether times under these conditions are the same each time, so that one repeat tells all."""
    return any(kind.exact and kind.name == conditions.kind for kind in KINDS)


def why_not_metric(name: str, baseline: Metric, now: Metric) -> str | None:
    """What differs in how a metric came to be."""
    for text, one, other in (
        ("source", baseline.source, now.source),
        ("unit", baseline.unit, now.unit),
    ):
        if one != other:
            return f"{name}: {text} {one_line(other)}, of the baseline {one_line(one)}"
    return None


def why_not_layers(baseline: Layers, now: Layers) -> str | None:
    """What differs in how the layers were profiled."""
    if baseline.source != now.source:
        return f"layers: source {now.source}, of the baseline {one_line(baseline.source)}"
    if baseline.run != now.run:
        return f"layers: of the {now.run} inference, of the baseline {one_line(baseline.run)}"
    return None


def _shown(name: str, value: object) -> str:
    return si(float(str(value)), "Hz") if name == "clock_hz" else one_line(value, 60)
