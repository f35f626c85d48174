"""Vela's per-layer CSV, in the two families of headers that there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_autodeploy.npu.results import Layer
from pytest_autodeploy.npu.tables import Row, Table, TableError, number, read_table

REGOR_TITLES: Mapping[str, str] = {
    "operator": "Original Operator",
    "nng_operator": "NNG Operator",
    "target": "Target",
    "staging_bytes": "Staging Usage",
    "peak_percent": "Peak% (Staging)",
    "cycles": "Op Cycles",
    "cycles_percent": "Network% (cycles)",
    "npu_cycles": "NPU",
    "sram_cycles": "SRAM AC",
    "dram_cycles": "DRAM AC",
    "on_chip_flash_cycles": "OnFlash AC",
    "off_chip_flash_cycles": "OffFlash AC",
    "macs": "MAC Count",
    "macs_percent": "Network% (MAC)",
    "utilization_percent": "Util% (MAC)",
    "name": "Name",
}
"""Titles of Vela 5 by the fields of Layer."""

LEGACY_TITLES: Mapping[str, str] = {
    key: title for key, title in REGOR_TITLES.items() if key != "target"
} | {
    "operator": "TFLite_operator",
    "staging_bytes": "SRAM Usage",
    "peak_percent": "Peak%",
    "cycles_percent": "Network%",
    "macs_percent": "Network% (1)",
    "utilization_percent": "Util%",
}
"""Titles of older versions, which list only what runs on the NPU."""

_TEXTS = ("operator", "nng_operator", "target", "name")


@dataclass(frozen=True)
class LayerTable:
    """The layers of a file and which core of Vela wrote it: ``regor``, ``legacy`` or ``unknown``.

    A file without any text, which older versions write when nothing runs on the NPU, is of an
    unknown core and has no layers.
    """

    core: str
    layers: tuple[Layer, ...]


def parse_layers(text: str) -> LayerTable:
    """The layers in the text of a per-layer CSV.

    Values that are not available (NaN, inf, empty) become None. Raises TableError, which names the
    column and the header found, or the line.
    """
    core, table, titles = layer_table(text)
    if not table.titles:
        return LayerTable("unknown", ())
    table.require(list(titles.values()))
    layers = (_layer(index, row, titles) for index, row in enumerate(table.rows))
    return LayerTable(core, tuple(layers))


def layer_table(text: str) -> tuple[str, Table, Mapping[str, str]]:
    """The core that wrote the text, its table, and its titles by the fields of Layer."""
    header = text.lstrip("\ufeff\r\n ").partition("\n")[0]
    if LEGACY_TITLES["operator"] in header:
        return "legacy", read_table(text, quoted=True), LEGACY_TITLES
    return "regor", read_table(text, quoted=False), REGOR_TITLES


def _layer(index: int, row: Row, titles: Mapping[str, str]) -> Layer:
    values: dict[str, Any] = {
        key: row.cells[title] if key in _TEXTS else number(row, title)
        for key, title in titles.items()
    }
    layer = Layer(index=index, **{"target": "NPU"} | values)
    if layer.target not in ("NPU", "CPU"):
        raise TableError(f"line {row.line}: {titles['target']} is {layer.target!r}")
    return _without_zeros(layer)


def _without_zeros(layer: Layer) -> Layer:
    """Vela writes 0 cycles and 100 % utilisation for what it does not estimate."""
    if layer.target == "CPU":
        unknown: dict[str, Any] = {name: None for name in REGOR_TITLES if name not in _TEXTS}
        return replace(layer, **unknown)
    return layer if layer.cycles else replace(layer, utilization_percent=None)
