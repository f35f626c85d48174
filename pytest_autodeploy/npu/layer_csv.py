"""Our own per-layer CSV of an estimate; it does not change with Vela's versions."""

from __future__ import annotations

import csv
import io

from pytest_autodeploy.npu.results import Estimate, Layer

COLUMNS = (
    "Layer",
    "Operator",
    "Operator name",
    "Vela operator",
    "Target",
    "Cycles",
    "Cycles %",
    "NPU cycles",
    "SRAM cycles",
    "DRAM cycles",
    "On-chip flash cycles",
    "Off-chip flash cycles",
    "MACs",
    "MACs %",
    "MAC utilisation %",
    "Staging bytes",
    "Staging peak %",
    "Tensor",
    "Source",
)

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def layer_csv(estimate: Estimate) -> str:
    r"""The layers as CSV after RFC 4180, with ``\n`` line ends and the columns ``COLUMNS``.

    ``Operator`` is the index in the model, ``Source`` always ``estimated``. What is not available
    is an empty cell. A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    names = {operator.index: operator.name for operator in estimate.operators}
    for layer in estimate.layers:
        name = layer.operator
        if layer.operator_index is not None:
            name = names.get(layer.operator_index, name)
        writer.writerow([_cell(value) for value in _values(layer, name)])
    return text.getvalue()


def _values(layer: Layer, name: str) -> list[float | str | None]:
    return [
        layer.index,
        layer.operator_index,
        name,
        layer.nng_operator,
        layer.target,
        layer.cycles,
        layer.cycles_percent,
        layer.npu_cycles,
        layer.sram_cycles,
        layer.dram_cycles,
        layer.on_chip_flash_cycles,
        layer.off_chip_flash_cycles,
        layer.macs,
        layer.macs_percent,
        layer.utilization_percent,
        layer.staging_bytes,
        layer.peak_percent,
        layer.name,
        "estimated",
    ]


def _cell(value: float | str | None) -> float | str:
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
