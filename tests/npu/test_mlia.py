"""MLIA's surface: its names, columns, units and errors, without its faults."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from pytest_autodeploy.npu.mlia import (
    LayerPerfInfo,
    LayerwisePerfInfo,
    PerformanceMetrics,
    VelaCompilerOptions,
    complete_layer_metrics,
    estimate_performance,
    layer_metrics,
    parse_layerwise_perf_csv,
    performance_metrics,
)
from pytest_autodeploy.npu.tables import read_table
from tests.helpers.support import MODELS
from tests.helpers.vela_csv import LayerSpec, legacy_csv, regor_csv, summary_csv

CONV = LayerSpec("conv", cycles=300, npu=280, sram=40, flash=20, macs=900, staging=64)
POOL = LayerSpec("pool", cycles=100, npu=90, sram=10, staging=32, operator="AvgPool")


def parse(folder: Path, text: str) -> list[LayerPerfInfo]:
    file = folder / "layers.csv"
    file.write_text(text, "utf-8", newline="")
    return parse_layerwise_perf_csv(file, layer_metrics).layerwise_info


def metrics(**changes: object) -> PerformanceMetrics:
    table = read_table(summary_csv([CONV, POOL], **changes), quoted=False)
    return performance_metrics(table.rows[0].cells, LayerwisePerfInfo([]))


def test_a_layer_has_eleven_fields_in_mlias_order() -> None:
    assert [field.name for field in dataclasses.fields(LayerPerfInfo)] == [
        *("name", "tflite_operator", "sram_usage", "op_cycles", "npu_cycles"),
        *("sram_access_cycles", "dram_access_cycles", "on_chip_flash_access_cycles"),
        *("off_chip_flash_access_cycles", "mac_count", "util_mac_percentage"),
    ]


def test_of_fifteen_columns_the_eleven_that_are_fields_are_kept_in_their_order() -> None:
    assert len(complete_layer_metrics) == 15
    assert [key for key, _, _ in layer_metrics] == [
        field.name for field in dataclasses.fields(LayerPerfInfo)
    ]


@pytest.mark.parametrize("text", [regor_csv([CONV, POOL]), legacy_csv([CONV, POOL])])
def test_both_families_give_the_same_layers(tmp_path: Path, text: str) -> None:
    layers = parse(tmp_path, text)
    assert layers[0] == LayerPerfInfo("conv", "Conv2D", 64, 300, 280, 40, 0, 0, 20, 900, 12.5)
    assert layers[1].tflite_operator == "AvgPool"


def test_the_text_form_has_the_csv_titles(tmp_path: Path) -> None:
    layers = parse(tmp_path, regor_csv([POOL]))
    assert repr(layers[0]) == (
        "Name: pool, TFLite_operator: AvgPool, SRAM Usage: 32, Op Cycles: 100, NPU: 90, "
        "SRAM AC: 10, DRAM AC: 0, OnFlash AC: 0, OffFlash AC: 0, MAC Count: 0, Util%: 12.5, "
    )
    assert repr(LayerwisePerfInfo(layers * 2)) == repr(layers[0]) * 2


def test_a_missing_file_is_told_in_mlias_words(tmp_path: Path) -> None:
    file = tmp_path / "none.csv"
    with pytest.raises(FileNotFoundError) as error:
        parse_layerwise_perf_csv(file, layer_metrics)
    assert str(error.value) == f"CSV File not found at {file}\n"


def test_an_empty_file_has_no_layers(tmp_path: Path) -> None:
    assert parse(tmp_path, "") == []


def test_repeated_headers_are_skipped(tmp_path: Path) -> None:
    assert len(parse(tmp_path, legacy_csv([CONV], [POOL]))) == 2


@pytest.mark.parametrize(("text", "value"), [("157.9", 157), ("-3.7", -3), ("1.5e3", 1500)])
def test_fractions_are_cut_off_towards_zero(tmp_path: Path, text: str, value: int) -> None:
    assert parse(tmp_path, regor_csv([CONV]).replace(",300,", f",{text},"))[0].op_cycles == value


@pytest.mark.parametrize(
    ("text", "error"), [("NaN", ValueError), ("inf", OverflowError), ("", ValueError)]
)
def test_what_is_no_whole_number_is_an_error(
    tmp_path: Path, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        parse(tmp_path, regor_csv([CONV]).replace(",300,", f",{text},"))


def test_nan_passes_through_a_float_column(tmp_path: Path) -> None:
    layers = parse(tmp_path, regor_csv([CONV]).replace(",12.5,", ",nan,"))
    assert math.isnan(layers[0].util_mac_percentage)


def test_a_missing_column_is_told_in_mlias_words_and_why(tmp_path: Path) -> None:
    with pytest.raises(KeyError) as error:
        parse(tmp_path, regor_csv([CONV]).replace("Op Cycles", "Cycles"))
    assert error.value.args == ("Generated CSV missing expected headers",)
    assert "there is no column 'Op Cycles'" in str(error.value.__cause__)


def test_a_short_row_is_the_same_error_and_says_its_line(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="missing expected headers") as error:
        parse(tmp_path, regor_csv([CONV]) + "Conv2D\n")
    assert "line 3" in str(error.value.__cause__)


def test_a_byte_order_mark_blank_lines_and_commas_do_no_harm(tmp_path: Path) -> None:
    text = "\ufeff" + regor_csv([LayerSpec("a,b", cycles=1)]) + "\n"
    assert parse(tmp_path, text)[0].name == "a,b"


def test_columns_that_are_no_fields_may_be_missing(tmp_path: Path) -> None:
    text = regor_csv([CONV]).replace("Network% (MAC)", "Other")
    assert parse(tmp_path, text)[0].mac_count == 900


def test_times_are_milliseconds_and_memories_are_kib() -> None:
    totals = metrics()
    assert totals.batch_inference_time == pytest.approx(1000 * 400 / 500e6)
    assert totals.inferences_per_second == pytest.approx(500e6 / 400)
    assert totals.sram_memory_area_size == 64 / 1024
    assert (totals.total_cycles, totals.npu_cycles, totals.batch_size) == (400, 370, 1)


def test_without_time_the_inferences_per_second_are_nan() -> None:
    assert math.isnan(metrics(cycles_total=0).inferences_per_second)


def test_a_clock_of_0_is_a_division_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        metrics(core_clock=0.0)


def test_neither_the_name_nor_the_accelerator_gives_old_figures(tmp_path: Path) -> None:
    pytest.importorskip("ethosu")
    first, second = (tmp_path / each / "conv1.tflite" for each in ("a", "b"))
    for file, model in ((first, "kws_ds_cnn.tflite"), (second, "digits_cnn.tflite")):
        file.parent.mkdir()
        file.write_bytes((MODELS / model).read_bytes())

    def run(file: Path, accelerator: str) -> PerformanceMetrics:
        options = VelaCompilerOptions(accelerator_config=accelerator, output_dir=None)
        return estimate_performance(file, options, cache=tmp_path / "cache")

    small, large = run(first, "ethos-u55-128"), run(first, "ethos-u55-256")
    assert small.total_cycles != large.total_cycles
    assert run(second, "ethos-u55-128").total_cycles not in (small.total_cycles, 0)
    assert run(first, "ethos-u55-128") == small
    layers = small.layerwise_performance_info.layerwise_info
    assert sum(layer.op_cycles for layer in layers) == small.total_cycles
