"""Vela's files, written from scratch: both families of per-layer CSVs, the summary, and the rest.

A layer is a ``LayerSpec``; what it does not say is made up so that sums and shares agree.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.npu.vela import VelaOutput

REGOR_HEADER = (
    "Original Operator,NNG Operator,Target,Staging Usage,Peak% (Staging),Op Cycles,"
    "Network% (cycles),NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network% (MAC),"
    "Util% (MAC),Name"
)
LEGACY_HEADER = (
    "TFLite_operator,NNG Operator,SRAM Usage,Peak%,Op Cycles,Network%,NPU,SRAM AC,DRAM AC,"
    "OnFlash AC,OffFlash AC,MAC Count,Network%,Util%,Name"
)
_AREAS = ("sram", "dram", "on_chip_flash", "off_chip_flash")


@dataclass(frozen=True)
class LayerSpec:
    """A layer to be written; ``source`` is the position of its operator in the model."""

    name: str = "y"
    source: int = 0
    cycles: float = 0
    npu: float = 0
    sram: float = 0
    flash: float = 0
    macs: int = 0
    staging: float = 0
    target: str = "NPU"
    operator: str = "Conv2D"
    utilization: str = "12.5"


def regor_csv(layers: Sequence[LayerSpec]) -> str:
    """The per-layer CSV of Vela 5: nothing is quoted."""
    rows = [",".join([*_regor_cells(layer, layers), layer.name]) for layer in layers]
    return "\n".join([REGOR_HEADER, *rows, ""])


def legacy_csv(*subgraphs: Sequence[LayerSpec]) -> str:
    """The per-layer CSV of older versions: counts as floats, the header again per NPU subgraph."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for layers in subgraphs:
        text.write(f"{LEGACY_HEADER}\n")
        for layer in layers:
            cells = _regor_cells(layer, layers)
            del cells[2]
            writer.writerow([*(_as_float(cell) for cell in cells), layer.name])
    return text.getvalue()


def _regor_cells(layer: LayerSpec, layers: Sequence[LayerSpec]) -> list[str]:
    fallback = layer.target == "CPU"
    cycles, macs = (sum(each) for each in zip(*((x.cycles, x.macs) for x in layers), strict=True))
    return [
        layer.operator,
        "Passthrough" if fallback else layer.operator,
        layer.target,
        f"{layer.staging:g}",
        _share(layer.staging, max(each.staging for each in layers)),
        f"{layer.cycles:g}",
        _share(layer.cycles, cycles),
        *(f"{value:g}" for value in (layer.npu, layer.sram, 0, 0, layer.flash, layer.macs)),
        _share(layer.macs, macs),
        layer.utilization if layer.cycles else "100",
    ]


def _share(part: float, whole: float) -> str:
    return str(100 * part / whole) if whole else "NaN"


def _as_float(cell: str) -> str:
    return f"{cell}.0" if cell.isdigit() else cell


def summary_csv(layers: Sequence[LayerSpec], **changes: object) -> str:
    """The summary CSV that fits the layers, on a system with SRAM and off-chip flash."""
    cells = _summary_cells(layers) | changes
    return f"{','.join(cells)}\n{','.join(map(str, cells.values()))}\n"


def _summary_cells(layers: Sequence[LayerSpec]) -> dict[str, object]:
    cycles, clock = sum(layer.cycles for layer in layers), 500e6
    time = cycles / clock
    used = {"sram": max((layer.staging for layer in layers), default=0) / 1024}
    used["off_chip_flash"] = 1.5 if cycles else 0.0
    access = {
        "sram": sum(layer.sram for layer in layers),
        "off_chip_flash": sum(layer.flash for layer in layers),
    }
    return {
        "experiment": "default",
        "network": "model",
        "core_clock": clock,
        "arena_cache_size": 4194304.0,
        "inferences_per_second": 1 / time if time else "nan",
        "batch_size": 1,
        "inference_time": time,
        **{f"{area}_memory_used": used.get(area, 0.0) for area in _AREAS},
        "nn_macs": sum(layer.macs for layer in layers),
        "nn_tops": "nan",
        "cycles_npu": sum(layer.npu for layer in layers),
        **{f"cycles_{area}_access": access.get(area, 0) for area in _AREAS},
        "cycles_total": cycles,
    }


def perf_table(layers: Sequence[LayerSpec]) -> str:
    """The table ``perf`` of the debug database; names are in quotes that they may hold too."""
    rows = [
        '"id","source_id","optimised_id","operator","name","staging_usage","op_cycles",'
        '"npu_cycles","mac_count","shram_ac","Sram_ac","OffChipFlash_ac"'
    ]
    for number, layer in enumerate(layers, start=50):
        figures = (layer.staging, layer.cycles, layer.npu, layer.macs, 0, layer.sram, layer.flash)
        tail = ",".join(f"{value:g}" for value in figures)
        rows.append(f'{number},{layer.source + 1},{number - 40},"Conv2D","{layer.name}",{tail}')
    return "\n".join([*rows, ""])


def source_table(operators: int) -> str:
    """The table ``source`` of the debug database for a model of one subgraph."""
    header = '"id","operator","kernel_w","kernel_h","ofm_w","ofm_h","ofm_d","ext_key"'
    rows = [f'{at + 1},"Conv2D",1,1,"","",4,{at}' for at in range(operators)]
    return "\n".join([header, *rows, ""])


def log_text(
    layers: Sequence[LayerSpec], reasons: Mapping[tuple[str, str], str] | None = None
) -> str:
    """What Vela prints; ``reasons`` by name and output of the operator."""
    why = [
        f"Warning (supported operators) operator: {name}, ofm: '{output}'\nReason: {reason}\n"
        for (name, output), reason in (reasons or {}).items()
    ]
    on_cpu = sum(layer.target == "CPU" for layer in layers)
    return "\n".join(
        [*why, f"CPU operators = {on_cpu} (0.0%)", f"NPU operators = {len(layers) - on_cpu} (0.0%)"]
    )


def vela_output(
    layers: Sequence[LayerSpec],
    operators: int,
    *,
    reasons: Mapping[tuple[str, str], str] | None = None,
    summary: Mapping[str, object] | None = None,
    **changes: str,
) -> VelaOutput:
    """Everything that Vela writes; ``changes`` replace whole texts."""
    texts = {
        "summary": summary_csv(layers, **(summary or {})),
        "per_layer": regor_csv(layers),
        "perf": perf_table(layers),
        "source": source_table(operators),
        "log": log_text(layers, reasons),
    }
    return VelaOutput(**texts | changes)
