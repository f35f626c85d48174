"""For people who come from MLIA: its performance module's names, fields, columns and units.

It differs where MLIA went wrong: results are kept by content, so neither another model of the same
name nor another accelerator gives old figures; a model's layers are never those of one whose name
contains its own; names with commas are whole; CSVs of Vela 5 are read too. New code should use
``npu.estimate``, which has no NaN and says what part of the model its figures are of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.npu.config_file import choose_system
from pytest_autodeploy.npu.estimate import vela_output
from pytest_autodeploy.npu.per_layer import LEGACY_TITLES, layer_table
from pytest_autodeploy.npu.tables import Table, TableError, read_table

Metric = tuple[str, str, str]
"""The key of a column, its title in the CSV and its title for people."""

_NO_HEADERS = "Generated CSV missing expected headers"


@dataclass
class VelaCompilerOptions:
    """What the estimate is for; ``config_file`` is a Vela .ini file."""

    accelerator_config: str = "ethos-u55-256"
    system_config: str | None = None
    memory_mode: str | None = None
    config_file: Path | None = None


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

layer_metrics: list[Metric] = [_BY_KEY[field.name] for field in fields(LayerPerfInfo)]
"""The columns that LayerPerfInfo keeps, in the order of its fields."""

_CASTS: Mapping[str, Callable[[str], str | int | float]] = {
    "str": str,
    "int": lambda text: _truncated(text),
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

    Nothing is written beside the model; results are kept in the cache of npu.estimate.
    """
    system = choose_system(
        compiler_options.accelerator_config,
        system_config=compiler_options.system_config,
        memory_mode=compiler_options.memory_mode,
        config=compiler_options.config_file,
    )
    output = vela_output(load_model(model_path), system, cache=cache)
    if not output.per_layer:
        raise FileNotFoundError("Vela per-layer CSV file not found")
    cells = read_table(output.summary, quoted=False).rows[0].cells
    return performance_metrics(cells, _layers(output.per_layer, layer_metrics))


def performance_metrics(
    summary: Mapping[str, str], layers: LayerwisePerfInfo
) -> PerformanceMetrics:
    """MLIA's metrics from the cells of a summary CSV; ZeroDivisionError for a clock of 0."""
    time_s = float(summary["cycles_total"]) / float(summary["core_clock"])
    return PerformanceMetrics(
        npu_cycles=_truncated(summary["cycles_npu"]),
        sram_access_cycles=_truncated(summary["cycles_sram_access"]),
        dram_access_cycles=_truncated(summary["cycles_dram_access"]),
        on_chip_flash_access_cycles=_truncated(summary["cycles_on_chip_flash_access"]),
        off_chip_flash_access_cycles=_truncated(summary["cycles_off_chip_flash_access"]),
        total_cycles=_truncated(summary["cycles_total"]),
        batch_inference_time=1000 * time_s,
        inferences_per_second=1 / time_s if time_s else math.nan,
        batch_size=_truncated(summary["batch_size"]),
        sram_memory_area_size=float(summary["sram_memory_used"]),
        dram_memory_area_size=float(summary["dram_memory_used"]),
        on_chip_flash_memory_area_size=float(summary["on_chip_flash_memory_used"]),
        off_chip_flash_memory_area_size=float(summary["off_chip_flash_memory_used"]),
        layerwise_performance_info=layers,
    )


def _layers(text: str, metrics: Sequence[Metric]) -> LayerwisePerfInfo:
    try:
        _, table, titles = layer_table(text)
        if not table.titles:
            return LayerwisePerfInfo([])
        newer = {LEGACY_TITLES[key]: titles[key] for key in LEGACY_TITLES}
        columns = {key: newer.get(title, title) for key, title, _ in metrics}
        table.require(list(columns.values()))
    except TableError as error:
        raise KeyError(_NO_HEADERS) from error
    return LayerwisePerfInfo(_rows(table, columns))


def _rows(table: Table, columns: Mapping[str, str]) -> list[LayerPerfInfo]:
    types = {field.name: str(field.type) for field in fields(LayerPerfInfo)}
    rows = []
    for row in table.rows:
        values = {key: _CASTS[types[key]](row.cells[title]) for key, title in columns.items()}
        rows.append(LayerPerfInfo(**values))  # type: ignore[arg-type]
    return rows


def _truncated(text: str) -> int:
    """A whole number, or one whose fraction is cut off (towards zero)."""
    try:
        return int(text)
    except ValueError:
        return int(float(text))
