"""What an update of a baseline changes, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_autodeploy.baseline.comparison_text import difference_text, exact_texts, value_text
from pytest_autodeploy.baseline.format import Entry, Layers, Metric
from pytest_autodeploy.baseline.layers import graph_change, match_layers


def changes(old: Entry | None, new: Entry) -> Iterator[str]:
    """A line per metric that is new or another, one for the layers, one for another model."""
    if old and old.model_sha256 != new.model_sha256:
        yield f"model {old.model_sha256[:12]} -> {new.model_sha256[:12]}"
    if old and old.conditions != new.conditions:
        yield "conditions changed"
    for name in sorted(new.metrics):
        line = _metric_change(name, old.metrics.get(name) if old else None, new.metrics[name])
        if line:
            yield line
    before = old.layers if old else None
    if new.layers and new.layers != before:
        yield _layers_change(before, new.layers)
    latest = max(new.updates.values(), default=1)
    earlier = sorted(name for name, update in new.updates.items() if update < latest)
    if earlier and new != old:
        yield f"still of an earlier run: {', '.join(earlier)}"


def _metric_change(name: str, old: Metric | None, new: Metric) -> str:
    if old is None:
        return f"{name} {value_text(new.value, new.unit)}, new"
    if old == new:
        return ""
    before, now = exact_texts(old.value, new.value, new.unit)
    return f"{name} {before} -> {now} ({difference_text(old.value, new.value, new.unit)})"


def _layers_change(old: Layers | None, new: Layers) -> str:
    if old is None:
        return f"{len(new.layers)} layers, new"
    changed = sum(
        b is None or n is None or old.layers[b].us != new.layers[n].us
        for b, n in match_layers(old.layers, new.layers)
    )
    graph = graph_change(old.layers, new.layers)
    text = f"{changed} of {len(new.layers)} layers have another time"
    return f"{text}; {graph}" if graph else text
