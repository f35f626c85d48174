"""MLIA's own module beside ours, where it is installed (0.8 or 0.9): the oracle, and estimates."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.npu import mlia as ours
from tests.helpers.support import MODELS
from tests.npu.test_mlia_oracle import BETTER, SAME, SUMMARY

original = pytest.importorskip("mlia.backend.vela.performance")
compiler = pytest.importorskip("mlia.backend.vela.compiler")
needs_summary = pytest.mark.skipif(
    not hasattr(compiler, "VelaSummary"), reason="this MLIA has no VelaSummary"
)


def outcome(module: Any, file: Path) -> object:
    """The layers of a CSV, or the kind and the text of the error and the kind of its cause."""
    try:
        layers = module.parse_layerwise_perf_csv(file, module.layer_metrics).layerwise_info
    except Exception as error:
        return type(error), error.args, isinstance(error.__cause__, KeyError)
    return [dataclasses.astuple(each) for each in layers]


@pytest.mark.parametrize("case", [*SAME, *BETTER], ids=lambda case: case[0])
def test_a_csv_of_the_table_is_read_as_the_table_says(tmp_path: Path, case: Any) -> None:
    file = tmp_path / "layers.csv"
    file.write_bytes(case[1] if isinstance(case[1], bytes) else case[1].encode())
    same = outcome(original, file) == outcome(ours, file)
    assert same or case in BETTER


@needs_summary
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"core_clock": 5e8},
        {"cycles_total": 400.9},
        {"cycles_total": 0.0},
        {"cycles_total": -400.0},
        {"batch_size": 4},
    ],
    ids=str,
)
def test_a_summary_gives_the_same(changes: dict[str, Any]) -> None:
    found = [
        str(
            module._performance_metrics(
                module.LayerwisePerfInfo([]), summary(**{**SUMMARY, **changes})
            )
        )
        for module, summary in ((original, compiler.VelaSummary), (ours, ours.VelaSummary))
    ]
    assert found[0] == found[1]


@needs_summary
@pytest.mark.parametrize("name", ["kws_ds_cnn", "digits_cnn"])
@pytest.mark.parametrize(
    ("accelerator", "system", "memory"),
    [
        ("ethos-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram"),
        ("ethos-u65-256", "Ethos_U65_High_End", "Dedicated_Sram"),
        ("ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram"),
    ],
)
def test_an_estimate_is_the_same_in_every_field(
    tmp_path: Path, name: str, accelerator: str, system: str, memory: str
) -> None:
    """With MLIA's own configuration file, and whichever Vela is installed."""
    pytest.importorskip("ethosu.vela")
    root = Path(str(original.__file__)).parents[2]
    given: dict[str, Any] = {
        "config_file": str(root / "resources" / "vela" / "vela.ini"),
        "system_config": system,
        "memory_mode": memory,
        "accelerator_config": accelerator,
    }
    model = MODELS / f"{name}.tflite"
    theirs = compiler.VelaCompilerOptions(**given, output_dir=tmp_path / "theirs")
    mine = ours.VelaCompilerOptions(**given, output_dir=tmp_path / "ours")
    expected = original.estimate_performance(model, theirs)
    found = ours.estimate_performance(model, mine, cache=False)
    assert dataclasses.astuple(found) == dataclasses.astuple(expected)
