"""Estimates by the real Vela."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.catalog.accelerators import ACCELERATORS
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.limits.npu import DECLARATION
from pytest_autodeploy.metrics.npu import judge
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.npu.config_file import choose_system, sample_config
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.estimate import estimate
from pytest_autodeploy.npu.results import Estimate, Unavailable
from pytest_autodeploy.npu.vela import run_vela
from tests.helpers.npu_examples import example, mixed_model, model
from tests.helpers.tflite_builder import (
    custom_operator,
    fully_connected,
    running_sum,
    vela_compiled,
)

pytest.importorskip("ethosu")

MUTATIONS = 8
ONE_OF_A_FAMILY = ("ethos-u55-128", "ethos-u65-256", "ethos-u85-256")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests share, so that Vela runs once for the same question."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def kws() -> Model:
    """A keyword spotter that runs whole on the NPU."""
    return example("kws_ds_cnn")


def check_sums(result: Estimate) -> None:
    """The layers, the operators and Vela's own summary agree."""
    assert result.degraded == ()
    total = float(result.cells["cycles_total"])
    assert result.totals.total_cycles == total
    assert sum(layer.cycles or 0 for layer in result.layers) == total
    assert sum(operator.cycles or 0 for operator in result.operators) == total
    macs = float(result.cells["nn_macs"])
    assert sum(operator.npu_macs or 0 for operator in result.operators) == macs


@pytest.mark.parametrize(
    "accelerator",
    [
        each if each in ONE_OF_A_FAMILY else pytest.param(each, marks=pytest.mark.slow)
        for each in ACCELERATORS
    ],
)
def test_totals_are_those_of_velas_summary(folder: Path, accelerator: str) -> None:
    result = estimate(model(fully_connected()), accelerator, cache=folder)
    assert result.status == "ok"
    check_sums(result)


def test_a_real_model_has_cycles_at_every_operator_that_computes(folder: Path, kws: Model) -> None:
    result = estimate(kws, "ethos-u55-128", cache=folder)
    check_sums(result)
    assert (result.status, result.coverage.macs) == ("ok", 1)
    computing = [each for each in result.operators if each.macs]
    assert computing
    assert all(each.placement == "npu" and each.cycles for each in computing)


def test_the_second_time_vela_is_not_started(tmp_path: Path, kws: Model) -> None:
    started = time.perf_counter()
    first = estimate(kws, "ethos-u85-256", cache=tmp_path)
    took_s = time.perf_counter() - started
    started = time.process_time()
    second = estimate(kws, "ethos-u85-256", cache=tmp_path, timeout_s=0)
    assert (first.cached, second.cached) == (False, True)
    assert second == first
    assert time.process_time() - started < took_s / 10


def test_without_a_cache_nothing_is_kept(folder: Path, kws: Model) -> None:
    with pytest.raises(NpuEstimateFailed, match="did not finish after 0 s"):
        estimate(kws, "ethos-u85-256", cache=False, timeout_s=0)


def test_a_model_of_npu_and_cpu_parts_is_told_apart(folder: Path) -> None:
    result = estimate(model(mixed_model()), "ethos-u55-128", cache=folder)
    check_sums(result)
    assert result.scope == "NPU part only, 2 of 4 operators"
    assert [each.placement for each in result.operators] == [
        *("npu", "cpu", "removed", "removed", "npu", "cpu")
    ]
    assert [each.reason for each in result.cpu_operators] == ["Unsupported opType"] * 2


@pytest.mark.parametrize("name", ['a"b', "a,b", "]]>", "é\u202e"])
def test_names_of_tensors_do_not_matter(folder: Path, name: str) -> None:
    result = estimate(model(mixed_model(name=name)), "ethos-u55-128", cache=folder)
    check_sums(result)
    assert result.layers[0].name == result.operators[0].output == name


def test_a_name_with_a_line_end_costs_the_layers_only(folder: Path) -> None:
    result = estimate(model(mixed_model(name="two\nlines")), "ethos-u55-128", cache=folder)
    assert result.degraded == ("the per-layer CSV cannot be read: line 3 has 1 of 16 columns",)
    assert result.totals.total_cycles == float(result.cells["cycles_total"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (fully_connected("float32"), "unsupported DataType Float32"),
        (custom_operator(), "Unsupported opType"),
    ],
)
def test_a_model_that_the_npu_cannot_run_has_no_figures(
    folder: Path, content: bytes, reason: str
) -> None:
    result = estimate(model(content), "ethos-u85-256", cache=folder)
    assert result.status == "cpu_only"
    assert isinstance(result.totals.total_cycles, Unavailable)
    assert reason in result.cpu_operators[0].reason
    (verdict,) = judge(result, declare(DECLARATION, cycles=1e9))
    assert verdict.status == "FAIL"


def test_a_model_of_several_subgraphs_has_totals_but_no_operators(folder: Path) -> None:
    result = estimate(model(running_sum()), "ethos-u55-128", cache=folder)
    assert result.status == "cpu_only"
    assert "2 subgraphs" in result.degraded[0]


def test_a_compiled_model_is_refused(folder: Path) -> None:
    with pytest.raises(NpuEstimateFailed, match="already compiled by Vela") as error:
        estimate(model(vela_compiled()), "ethos-u55-128", cache=folder)
    assert error.value.kind == "compiled"


@pytest.mark.parametrize("mode", ["Weights_In_MRAM", "Weights_In_SRAM"])
def test_vela_accepts_the_sample_configuration(folder: Path, kws: Model, mode: str) -> None:
    result = estimate(kws, "ethos-u85-256", config=sample_config(), memory_mode=mode, cache=folder)
    check_sums(result)
    assert result.warnings == ()
    assert result.totals.core_clock_hz == 250e6
    assert result.system_config == "Ambiq_Like_U85_250MHz"
    assert isinstance(result.totals.dram_bytes, Unavailable)
    flash = result.totals.on_chip_flash_bytes
    assert not isinstance(flash, Unavailable)
    assert flash > 0


def test_a_budget_too_tight_names_the_worst_operators(folder: Path, kws: Model) -> None:
    result = estimate(kws, "ethos-u55-128", cache=folder)
    (verdict,) = judge(result, declare(DECLARATION, cycles=100))
    worst = max(result.operators, key=lambda each: each.cycles or 0)
    assert verdict.status == "FAIL"
    assert "limit   100\n" in verdict.text
    assert f"value   {result.totals.total_cycles:,} (estimated)" in verdict.text
    first_of_the_worst = verdict.text.split("worst operators\n")[1]
    assert first_of_the_worst.startswith(
        f"    #{worst.index} {worst.name}  {worst.cycles:,} cycles"
    )


def test_what_crashes_vela_is_one_sentence(kws: Model) -> None:
    system = choose_system("ethos-u55-128")
    with pytest.raises(NpuEstimateFailed) as error:
        run_vela(kws.content[: len(kws.content) // 3], system, name="cut", timeout_s=60)
    assert error.value.kind in ("crashed", "rejected")
    assert error.value.what.startswith("cut on ethos-u55-128: Vela ")
    assert "\n" not in error.value.what


def test_mutated_models_have_an_outcome_of_their_own(tmp_path: Path) -> None:
    whole = mixed_model()
    for seed in range(MUTATIONS):
        choose = random.Random(seed)
        content = bytearray(whole)
        content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
        path = tmp_path / "mutated.tflite"
        path.write_bytes(content)
        assert outcome(path) in ("ok", "partial", "cpu_only", "damaged", "crashed", "rejected")


def outcome(path: Path) -> str:
    """What became of a file; everything but an estimate and an error of ours would be raised."""
    try:
        result = estimate(load_model(path), "ethos-u55-128", cache=False, timeout_s=20)
    except ModelError:
        return "damaged"
    except NpuEstimateFailed as error:
        return error.kind
    nothing = isinstance(result.totals.total_cycles, Unavailable)
    return result.status if nothing == (result.status == "cpu_only") else "figures of nothing"
