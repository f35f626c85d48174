"""The layers of a profile as columns of text, for the terminal and pytest-html."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import grouped, percent

Layers = Sequence[Mapping[str, Any]]


def longest(layers: Layers, limit: int) -> Layers:
    """The ``limit`` layers that take longest (MACs, where no time is known) in running order.

    The others are summed up in one row behind them.
    """
    if len(layers) <= limit:
        return layers
    ranked = sorted(layers, key=lambda layer: -(layer.get("us") or layer["macs"] or 0))
    kept = {layer["index"] for layer in ranked[:limit]}
    rest = [layer for layer in layers if layer["index"] not in kept]
    return [*(layer for layer in layers if layer["index"] in kept), _summed(rest)]


def layer_columns(layers: Layers, source: str, total_us: float) -> list[Column]:
    """The table of layers: times and cycles are of ``source``, a share is of ``total_us``.

    Static layers have no ``us``; they get neither times nor cycles.
    """
    columns = [
        Column("#", [str(layer["index"]) for layer in layers], right=True),
        Column("Layer", [one_line(layer["tag"], 60) for layer in layers]),
    ]
    if all("us" in layer for layer in layers):
        times = [layer["us"] for layer in layers]
        columns += [
            Column(f"us ({source})", [grouped(us, _decimals(times)) for us in times], right=True),
            Column("Share", [percent(us, total_us) for us in times], right=True),
        ]
    columns.append(Column("MACs (estimated)", _grouped(layers, "macs"), right=True))
    if any(layer.get("cycles") is not None for layer in layers):
        columns.append(Column(f"Cycles ({source})", _grouped(layers, "cycles"), right=True))
    return columns


def total_us(layers: Layers) -> float:
    """Microseconds of all layers together."""
    return float(sum(layer.get("us", 0) for layer in layers))


def _summed(rest: Layers) -> dict[str, Any]:
    row: dict[str, Any] = {"index": "", "tag": f"{len(rest)} more layers"}
    for key in ("us", "macs", "cycles"):
        values = [layer[key] for layer in rest if key in layer]
        if values:
            row[key] = None if None in values else sum(values)
    return row


def _grouped(layers: Layers, key: str) -> list[str]:
    return [grouped(layer.get(key)) for layer in layers]


def _decimals(times: Sequence[float]) -> int:
    return 0 if all(us == round(us) for us in times) else 1
