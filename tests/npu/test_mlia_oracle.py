"""MLIA's module as an oracle: what the original does, in a table, and what ours does.

The expected values were observed on the original (MLIA 0.8.0 for CSVs of layers, 0.9.2 for
summaries); where ours is better, the case says so. ``test_mlia_original.py`` compares with it where
it is installed.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import NpuConfigError
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.npu import mlia
from pytest_autodeploy.npu.estimate import estimate
from pytest_autodeploy.npu.vela import VelaOutput
from tests.helpers.support import MODELS
from tests.helpers.vela_csv import LayerSpec, legacy_csv, regor_csv

HEADER = (
    "TFLite_operator,NNG Operator,SRAM Usage,Peak%,Op Cycles,Network%,NPU,SRAM AC,DRAM AC,"
    "OnFlash AC,OffFlash AC,MAC Count,Network%,Util%,Name"
)
ROW = "CONV_2D,Conv2D,64,50,300,60,280,40,0,0,20,900,90,12.5,conv"
VALUES = ("conv", "CONV_2D", 64, 300, 280, 40, 0, 0, 20, 900, 12.5)
MISSING = "Generated CSV missing expected headers"
KEYS = mlia.OUTPUT_METRICS


def row(**changes: str) -> str:
    """The row with other cells, by title; the first of two with one title."""
    titles, cells = HEADER.split(","), ROW.split(",")
    for title, text in changes.items():
        cells[titles.index(title.replace("_", " ").replace("pct", "%"))] = text
    return ",".join(cells)


def layer(**changes: object) -> tuple[object, ...]:
    given = {**dict(zip(KEYS, VALUES, strict=True)), **changes}
    return tuple(given.values())


def text(*lines: str) -> str:
    return "\n".join([HEADER, *lines, ""])


def parse(folder: Path, content: str | bytes | None, metrics: Any = None) -> list[Any]:
    file = folder / "layers.csv"
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        file.write_bytes(data)
    chosen = () if metrics is None else (metrics,)
    found = mlia.parse_layerwise_perf_csv(file, *chosen).layerwise_info
    return [dataclasses.astuple(each) for each in found]


# what, content, the original's layers or (exception, its text), and what ours does when better
SAME: list[tuple[str, str | bytes, list[tuple[object, ...]] | tuple[type[Exception], str]]] = [
    ("one row", text(ROW), [layer()]),
    ("two rows", text(ROW, row(Name="b")), [layer(), layer(name="b")]),
    ("empty file", "", []),
    ("header only", text(), []),
    ("a lone line end", "\n", []),
    ("repeated header", text(ROW, HEADER, ROW), [layer(), layer()]),
    ("header repeated twice", text(HEADER, ROW, HEADER), [layer()]),
    ("157.9 in an int column", text(row(Op_Cycles="157.9")), [layer(op_cycles=157)]),
    ("-3.7 in an int column", text(row(Op_Cycles="-3.7")), [layer(op_cycles=-3)]),
    ("1.5e3 in an int column", text(row(Op_Cycles="1.5e3")), [layer(op_cycles=1500)]),
    ("blanks round an int", text(row(Op_Cycles=" 12 ")), [layer(op_cycles=12)]),
    ("1_000 in an int column", text(row(Op_Cycles="1_000")), [layer(op_cycles=1000)]),
    ("+5 in an int column", text(row(Op_Cycles="+5")), [layer(op_cycles=5)]),
    ("1328.0, as legacy writes", text(row(NPU="1328.0")), [layer(npu_cycles=1328)]),
    (
        "NaN in an int column",
        text(row(Op_Cycles="NaN")),
        (ValueError, "cannot convert float NaN to integer"),
    ),
    (
        "inf in an int column",
        text(row(Op_Cycles="inf")),
        (OverflowError, "cannot convert float infinity to integer"),
    ),
    ("nothing in an int column", text(row(Op_Cycles="")), (ValueError, "could not convert string")),
    ("abc in an int column", text(row(Op_Cycles="abc")), (ValueError, "could not convert string")),
    (
        '"1,000" in an int column',
        text(row(Op_Cycles='"1,000"')),
        (ValueError, "could not convert string"),
    ),
    ("abc in Util%", text(row(Utilpct="abc")), (ValueError, "could not convert string")),
    ("nothing in Util%", text(row(Utilpct="")), (ValueError, "could not convert string")),
    ("1e2 in Util%", text(row(Utilpct="1e2")), [layer(util_mac_percentage=100.0)]),
    ("an unneeded title missing", text(ROW).replace("Peak%", "Other"), [layer()]),
    ("all unneeded titles missing", text(ROW).replace("NNG Operator", "X"), [layer()]),
    ("a missing title", text(ROW).replace("Op Cycles", "Cycles"), (KeyError, MISSING)),
    ("a missing operator", text(ROW).replace("TFLite_operator", "Op"), (KeyError, MISSING)),
    ("a missing title, no rows", text().replace("Op Cycles", "Cycles"), []),
    ("a short row", text(ROW, "CONV_2D,Conv2D,64"), (KeyError, MISSING)),
    ("an empty name", text(row(Name="")), [layer(name="")]),
    ("a quoted name with a comma", text(row(Name='"a,b"')), [layer(name="a,b")]),
    ("letters of other alphabets", text(row(Name="größe/モデル")), [layer(name="größe/モデル")]),
    ("carriage returns", text(ROW).replace("\n", "\r\n"), [layer()]),
    ("a negative int", text(row(MAC_Count="-1")), [layer(mac_count=-1)]),
    ("no last line end", text(ROW).rstrip("\n"), [layer()]),
    ("a large int", text(row(MAC_Count=str(10**18))), [layer(mac_count=10**18)]),
]
BETTER: list[tuple[str, str | bytes, list[tuple[object, ...]], str]] = [
    ("a blank line", text(ROW, "", ROW), [layer(), layer()], "KeyError"),
    ("a byte order mark", "\ufeff" + text(ROW), [layer()], "KeyError"),
    ("a comma in a name without quotes", text(row(Name="a,b")), [layer(name="a,b")], "'a'"),
    (
        "latin-1",
        text(row(Name="gr\xf6\xdfe")).encode("latin-1"),
        [layer(name="gr\ufffd\ufffde")],
        "UnicodeDecodeError",
    ),
    (
        "the CSV of Vela 5",
        regor_csv([LayerSpec("conv", cycles=300)]),
        [("conv", "Conv2D", 0, 300, 0, 0, 0, 0, 0, 0, 12.5)],
        "KeyError",
    ),
]


@pytest.mark.parametrize("case", SAME, ids=lambda case: case[0])
def test_a_csv_gives_what_the_original_gives(tmp_path: Path, case: Any) -> None:
    _, content, expected = case
    if isinstance(expected, list):
        assert parse(tmp_path, content) == expected
        return
    kind, words = expected
    with pytest.raises(kind) as error:
        parse(tmp_path, content)
    assert type(error.value) is kind
    assert words in str(error.value.args[0])
    if kind is KeyError:
        assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize("case", BETTER, ids=lambda case: case[0])
def test_a_csv_gives_layers_where_the_original_fails(tmp_path: Path, case: Any) -> None:
    _, content, expected, _original = case
    assert parse(tmp_path, content) == expected


def test_nan_passes_through_a_float_column(tmp_path: Path) -> None:
    assert math.isnan(parse(tmp_path, text(row(Utilpct="nan")))[0][-1])


def test_a_title_that_comes_three_times_is_numbered_from_the_left(tmp_path: Path) -> None:
    content = text(ROW + ",1").replace("Util%,Name", "Util%,Name,Network%")
    assert parse(tmp_path, content)[0][:2] == ("conv", "CONV_2D")


@pytest.mark.parametrize("name", ["none.csv", "."])
def test_what_is_no_file_is_told_in_the_original_s_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError) as error:
        mlia.parse_layerwise_perf_csv(tmp_path / name, mlia.layer_metrics)
    assert error.value.args == (f"CSV File not found at {tmp_path / name}\n",)


def test_metrics_of_all_columns_end_in_the_original_s_message(tmp_path: Path) -> None:
    with pytest.raises(KeyError) as error:
        parse(tmp_path, text(ROW), mlia.complete_layer_metrics)
    assert error.value.args == (MISSING,)


def test_metrics_may_name_other_titles(tmp_path: Path) -> None:
    swapped = [(key, "NPU" if key == "op_cycles" else title, p) for key, title, p in METRICS]
    assert parse(tmp_path, text(ROW), swapped)[0][3] == 280


METRICS = mlia.layer_metrics
SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("cycles_sram_access", "cycles_dram_access"), 40.0),
    **dict.fromkeys(("cycles_on_chip_flash_access", "cycles_off_chip_flash_access"), 20.5),
    "cycles_total": 400.0,
    "cycles_npu": 370.5,
    "core_clock": 1e6,
    "batch_size": 1,
    **dict.fromkeys(("sram_memory_used", "dram_memory_used"), 5.828125),
    **dict.fromkeys(("on_chip_flash_memory_used", "off_chip_flash_memory_used"), 0.0),
    "memory_mode": "m",
    "system_config": "s",
    "accelerator_configuration": "a",
    "arena_cache_size": 384.0,
}


@pytest.mark.parametrize(
    ("changes", "ms", "per_second"),
    [
        ({}, 0.4, 2500.0),
        ({"core_clock": 5e8}, 0.0008, 1_250_000.0),
        ({"cycles_total": 400.9}, 0.4009, 1e6 / 400.9),
        ({"cycles_total": 0.0}, 0.0, math.nan),
        ({"cycles_total": -400.0}, -0.4, math.nan),  # the original's sign
        ({"batch_size": 4}, 0.4, 2500.0),
    ],
)
def test_a_summary_gives_what_the_original_gives(
    changes: dict[str, Any], ms: float, per_second: float
) -> None:
    given = mlia.VelaSummary(**{**SUMMARY, **changes})
    found = mlia._performance_metrics(mlia.LayerwisePerfInfo([]), given)
    assert found.batch_inference_time == pytest.approx(ms)
    assert found.inferences_per_second == pytest.approx(per_second, nan_ok=True)
    assert found.total_cycles == int(given.cycles_total)
    assert (found.npu_cycles, found.off_chip_flash_access_cycles) == (370, 20)
    assert found.sram_memory_area_size == 5.828125  # KiB, as the original has it
    assert found.batch_size == given.batch_size


def test_without_layers_it_ends_in_the_original_s_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = VelaOutput("", "", perf="", source="", log="")
    monkeypatch.setattr(mlia, "output_for", lambda *_: (nothing, None))
    with pytest.raises(FileNotFoundError, match="Vela per-layer CSV file not found"):
        mlia.estimate_performance(tmp_path / "m.tflite", mlia.VelaCompilerOptions())


def test_a_clock_of_0_is_a_division_by_zero() -> None:
    given = mlia.VelaSummary(**{**SUMMARY, "core_clock": 0.0})
    with pytest.raises(ZeroDivisionError):
        mlia._performance_metrics(mlia.LayerwisePerfInfo([]), given)


def test_the_text_forms_are_titles_and_values() -> None:
    one = mlia.LayerPerfInfo(*VALUES)
    assert repr(one).startswith("Name: conv, TFLite_operator: CONV_2D, SRAM Usage: 64, ")
    assert repr(mlia.LayerwisePerfInfo([one, one])) == 2 * repr(one)
    assert repr(mlia.VelaSummary(**SUMMARY)).startswith("cycles_total: 400.0, cycles_npu: 370.5, ")


def test_the_options_have_the_order_and_the_defaults_of_the_original() -> None:
    options = dataclasses.asdict(mlia.VelaCompilerOptions())
    assert list(options.items()) == [
        ("config_file", None),
        ("system_config", "internal-default"),
        ("memory_mode", "internal-default"),
        ("accelerator_config", None),
        ("max_block_dependency", 3),
        ("arena_cache_size", None),
        ("tensor_allocator", "HillClimb"),
        ("cpu_tensor_alignment", 16),
        ("optimization_strategy", "Performance"),
        ("output_dir", Path("output")),
        ("recursion_limit", 1000),
        ("verbose_performance", True),
        ("config_files", None),  # the older name of the first
    ]


def test_the_options_take_every_keyword_of_the_original() -> None:
    options = mlia.VelaCompilerOptions(
        config_files="my.ini",
        system_config="internal-default",
        memory_mode="internal-default",
        accelerator_config="ethos-u55-128",
        max_block_dependency=2,
        arena_cache_size=1024,
        tensor_allocator="Greedy",
        cpu_tensor_alignment=32,
        optimization_strategy="Size",
        output_dir=Path("output"),
        recursion_limit=2000,
    )
    assert options.config == Path("my.ini")
    assert mlia.VelaCompilerOptions(config_file="other.ini").config == Path("other.ini")


class TestWithVela:
    """A script that was written for MLIA's module, with one import changed."""

    KWS = MODELS / "kws_ds_cnn.tflite"

    @pytest.fixture(autouse=True)
    def _vela(self) -> None:
        pytest.importorskip("ethosu")

    def options(self, folder: Path, **more: Any) -> mlia.VelaCompilerOptions:
        chosen = {"accelerator_config": "ethos-u55-128", "output_dir": folder / "out", **more}
        return mlia.VelaCompilerOptions(**chosen)

    def test_the_csvs_are_in_the_output_folder_and_are_what_is_read(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, "pytest_autodeploy.npu.mlia"):
            first = mlia.estimate_performance(self.KWS, self.options(tmp_path), cache=False)
        assert caplog.messages[0] == (
            f"Estimate performance for the model {self.KWS} on ethos-u55-128"
        )
        out = tmp_path / "out"
        layers = mlia.parse_layerwise_perf_csv(out / "kws_ds_cnn_per-layer.csv")
        assert layers == first.layerwise_performance_info
        (summary,) = out.glob("kws_ds_cnn_summary_*.csv")
        assert mlia.parse_summary_csv_file(summary).cycles_total == first.total_cycles

    def test_files_there_are_read_again_only_when_they_are_of_this_model_and_accelerator(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = mlia.estimate_performance(self.KWS, self.options(tmp_path), cache=False)
        run = "pytest_autodeploy.npu.estimate.run_vela"
        runs: list[str] = []
        with monkeypatch.context() as patched:
            patched.setattr(run, lambda *_a, **_k: runs.append("ran"))
            assert mlia.estimate_performance(self.KWS, self.options(tmp_path), cache=False) == small
        assert runs == []
        other = self.options(tmp_path, accelerator_config="ethos-u55-256")
        assert mlia.estimate_performance(self.KWS, other, cache=False) != small  # stale in MLIA
        layers = tmp_path / "out" / "kws_ds_cnn_per-layer.csv"
        layers.write_text(layers.read_text().replace("1", "2"))
        again = mlia.estimate_performance(self.KWS, self.options(tmp_path), cache=False)
        assert again == small

    def test_the_compiler_gives_summary_and_model(self, tmp_path: Path) -> None:
        compiler = mlia.VelaCompiler(self.options(tmp_path))
        summary, made = compiler.compile_model(self.KWS)
        assert made == tmp_path / "out" / "kws_ds_cnn_vela.tflite"
        assert made.read_bytes()[4:8] == b"TFL3"
        assert summary.cycles_total > 0
        assert (summary.core_clock, summary.batch_size) == (5e8, 1)
        assert mlia.compile_model(self.KWS, self.options(tmp_path)) == made

    def test_the_older_core_of_vela_gives_other_figures_and_says_so(self) -> None:
        model = load_model(self.KWS)
        new, old = (estimate(model, "ethos-u55-128", core=core) for core in ("regor", "legacy"))
        assert (new.provenance.core, old.provenance.core) == ("regor", "legacy")
        assert new.totals.total_cycles != old.totals.total_cycles
        assert "--debug-force-legacy-core" in old.provenance.arguments
        with pytest.raises(NpuConfigError, match="legacy core does not know ethos-u85-256"):
            estimate(model, "ethos-u85-256", core="legacy")

    def test_a_model_that_is_none_is_told_in_the_original_s_words(self, tmp_path: Path) -> None:
        (tmp_path / "none.tflite").write_bytes(b"none")
        compiler = mlia.VelaCompiler(self.options(tmp_path))
        with pytest.raises(RuntimeError, match="could not be optimized with Vela compiler"):
            compiler.compile_model(tmp_path / "none.tflite")
        with pytest.raises(RuntimeError, match="Unable to read model"):
            compiler.compile_model(tmp_path / "there is none.tflite")


def test_a_path_that_is_text_is_the_original_s_error() -> None:
    estimate: Callable[..., Any] = mlia.estimate_performance
    with pytest.raises(AttributeError, match="stem"):
        estimate("kws.tflite", mlia.VelaCompilerOptions())


def test_both_families_of_csvs_are_known() -> None:
    assert legacy_csv([LayerSpec("conv")]).startswith(HEADER.partition(",")[0])
