"""For people who come from MLIA: its performance module's names, fields, columns and units.

It differs where MLIA went wrong: results are kept by content, so neither another model of the same
name nor another accelerator gives old figures; a model's layers are never those of one whose name
contains its own; names with commas are whole; CSVs of Vela 5 are read too. New code should use
``npu.estimate``, which has no NaN and says what part of the model its figures are of.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from pytest_autodeploy.npu.mlia_compiler import (
    VelaCompiler,
    VelaCompilerOptions,
    VelaSummary,
    compile_model,
    output_for,
    parse_summary_csv_file,
    summary_of,
)
from pytest_autodeploy.npu.per_layer import LEGACY_TITLES, layer_table
from pytest_autodeploy.npu.tables import Table, TableError

__all__ = [
    "OUTPUT_METRICS",
    "LayerPerfInfo",
    "LayerwisePerfInfo",
    "PerformanceMetrics",
    "VelaCompiler",
    "VelaCompilerOptions",
    "VelaSummary",
    "compile_model",
    "complete_layer_metrics",
    "estimate_performance",
    "layer_metrics",
    "parse_layerwise_perf_csv",
    "parse_summary_csv_file",
    "performance_metrics",
]

logger = logging.getLogger(__name__)

Metric = tuple[str, str, str]
"""The key of a column, its title in the CSV and its title for people."""

_NO_HEADERS = "Generated CSV missing expected headers"


@dataclass
class LayerPerfInfo:
    """One row of a per-layer CSV; bytes, cycles, MACs and per cent."""

    name: str
    tflite_operator: str
    sram_usage: int
    op_cycles: int
    npu_cycles: int
    sram_access_cycles: int
    dram_access_cycles: int
    on_chip_flash_access_cycles: int
    off_chip_flash_access_cycles: int
    mac_count: int
    util_mac_percentage: float

    def __repr__(self) -> str:
        """``CSV title: value, `` for every field."""
        return "".join(f"{title}: {getattr(self, key)}, " for key, title, _ in layer_metrics)


@dataclass
class LayerwisePerfInfo:
    """All rows of a per-layer CSV."""

    layerwise_info: list[LayerPerfInfo]

    def __repr__(self) -> str:
        """The text forms of all rows in a row."""
        return "".join(map(repr, self.layerwise_info))


@dataclass
class PerformanceMetrics:
    """Totals: cycles, milliseconds, inferences per second (NaN when the time is 0), and KiB."""

    npu_cycles: int
    sram_access_cycles: int
    dram_access_cycles: int
    on_chip_flash_access_cycles: int
    off_chip_flash_access_cycles: int
    total_cycles: int
    batch_inference_time: float
    inferences_per_second: float
    batch_size: int
    sram_memory_area_size: float
    dram_memory_area_size: float
    on_chip_flash_memory_area_size: float
    off_chip_flash_memory_area_size: float
    layerwise_performance_info: LayerwisePerfInfo


complete_layer_metrics: list[Metric] = [
    ("tflite_operator", "TFLite_operator", "TFLite Operator"),
    ("nng_operator", "NNG Operator", "NNG Operator"),
    ("sram_usage", "SRAM Usage", "SRAM Usage"),
    ("peak_percentage", "Peak%", "Peak SRAM Usage (%)"),
    ("op_cycles", "Op Cycles", "OP Cycles"),
    ("network_percentage_1", "Network%", "OP Cycles in Network (%)"),
    ("npu_cycles", "NPU", "NPU Cycles"),
    ("sram_access_cycles", "SRAM AC", "SRAM AC"),
    ("dram_access_cycles", "DRAM AC", "DRAM AC"),
    ("on_chip_flash_access_cycles", "OnFlash AC", "OnFlash AC"),
    ("off_chip_flash_access_cycles", "OffFlash AC", "OffFlash AC"),
    ("mac_count", "MAC Count", "MAC Count"),
    ("network_percentage_2", "Network% (1)", "MAC Count in Network (%)"),
    ("util_mac_percentage", "Util%", "MAC Util (%)"),
    ("name", "Name", "Layer Name"),
]

_BY_KEY = {metric[0]: metric for metric in complete_layer_metrics}

OUTPUT_METRICS = [field.name for field in fields(LayerPerfInfo)]
"""The keys of the columns that LayerPerfInfo keeps."""

layer_metrics: list[Metric] = [_BY_KEY[key] for key in OUTPUT_METRICS]
"""The columns that LayerPerfInfo keeps, in the order of its fields."""

_CASTS: Mapping[str, Callable[[str], str | int | float]] = {
    "str": str,
    "int": lambda text: _truncate(text),
    "float": float,
}


def parse_layerwise_perf_csv(
    vela_csv_file: Path, metrics: Sequence[Metric] = tuple(layer_metrics)
) -> LayerwisePerfInfo:
    """The layers in a per-layer CSV of Vela, old or new; none in an empty file.

    Raises FileNotFoundError; KeyError for a missing column or a short row; ValueError and
    OverflowError for a text that is no number. A fraction in a whole number's column is cut off.
    """
    if not vela_csv_file.is_file():
        raise FileNotFoundError(f"CSV File not found at {vela_csv_file}\n")
    return _layers(vela_csv_file.read_text("utf-8-sig", errors="replace"), metrics)


def estimate_performance(
    model_path: Path, compiler_options: VelaCompilerOptions, *, cache: Path | bool = True
) -> PerformanceMetrics:
    """Let Vela estimate the model and return MLIA's metrics; errors are those of npu.estimate.

    With ``output_dir`` the CSVs are kept there, and read again when they are of this model and
    configuration; without it results are kept in the cache of npu.estimate alone.
    """
    logger.debug(
        "Estimate performance for the model %s on %s",
        model_path,
        compiler_options.accelerator_config,
    )
    output, _ = output_for(model_path, compiler_options, cache)
    if not output.per_layer:
        raise FileNotFoundError("Vela per-layer CSV file not found")
    layers = _layers(output.per_layer, layer_metrics)
    return _performance_metrics(layers, summary_of(output.summary))


def _performance_metrics(
    layerwise_performance_info: LayerwisePerfInfo, vela_summary: VelaSummary
) -> PerformanceMetrics:
    """MLIA's metrics from a summary; ZeroDivisionError for a clock of 0."""
    time_s = vela_summary.cycles_total / vela_summary.core_clock
    return PerformanceMetrics(
        npu_cycles=int(vela_summary.cycles_npu),
        sram_access_cycles=int(vela_summary.cycles_sram_access),
        dram_access_cycles=int(vela_summary.cycles_dram_access),
        on_chip_flash_access_cycles=int(vela_summary.cycles_on_chip_flash_access),
        off_chip_flash_access_cycles=int(vela_summary.cycles_off_chip_flash_access),
        total_cycles=int(vela_summary.cycles_total),
        batch_inference_time=1000 * time_s,
        inferences_per_second=1 / time_s if time_s > 0 else math.nan,
        batch_size=vela_summary.batch_size,
        sram_memory_area_size=vela_summary.sram_memory_used,
        dram_memory_area_size=vela_summary.dram_memory_used,
        on_chip_flash_memory_area_size=vela_summary.on_chip_flash_memory_used,
        off_chip_flash_memory_area_size=vela_summary.off_chip_flash_memory_used,
        layerwise_performance_info=layerwise_performance_info,
    )


def performance_metrics(
    summary: Mapping[str, str], layers: LayerwisePerfInfo
) -> PerformanceMetrics:
    """As ``_performance_metrics``, from the cells of a summary CSV."""
    unused = ("memory_mode", "system_config", "accelerator_configuration", "arena_cache_size")
    cells = {**dict.fromkeys(unused, "0"), **summary}
    lines = (",".join(cells), ",".join(cells.values()))
    return _performance_metrics(layers, summary_of("\n".join(lines)))


class _Missing(TableError, KeyError):
    """Why headers are missing, in words; a KeyError, as MLIA's cause is."""

    def __str__(self) -> str:
        return str(self.args[0])


def _layers(text: str, metrics: Sequence[Metric]) -> LayerwisePerfInfo:
    try:
        _, table, titles = layer_table(text)
        if not table.titles:
            return LayerwisePerfInfo([])
        newer = {LEGACY_TITLES[key]: titles[key] for key in LEGACY_TITLES}
        columns = {key: newer.get(title, title) for key, title, _ in metrics}
        if not table.rows:
            return LayerwisePerfInfo([])
        table.require(list(columns.values()))
        _check_fields(columns)
    except TableError as error:
        raise KeyError(_NO_HEADERS) from _Missing(str(error))
    return LayerwisePerfInfo(_rows(table, columns))


def _check_fields(columns: Mapping[str, str]) -> None:
    """Columns that are no fields, as ``complete_layer_metrics`` has, end in MLIA's message."""
    for key in columns:
        if key not in OUTPUT_METRICS:
            raise TableError(f"{key!r} is no field of LayerPerfInfo; layer_metrics has its columns")


def _rows(table: Table, columns: Mapping[str, str]) -> list[LayerPerfInfo]:
    types = {field.name: str(field.type) for field in fields(LayerPerfInfo)}
    rows = []
    for row in table.rows:
        values = {key: _CASTS[types[key]](row.cells[title]) for key, title in columns.items()}
        rows.append(LayerPerfInfo(**values))  # type: ignore[arg-type]
    return rows


def _truncate(text: str) -> int:
    """A whole number, or one whose fraction is cut off (towards zero)."""
    try:
        return int(text)
    except ValueError:
        return int(float(text))
