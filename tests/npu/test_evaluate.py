"""From what Vela wrote to an estimate: status, coverage, roll-up and self-checks."""

from __future__ import annotations

import dataclasses
import json

import msgspec
import pytest

from pytest_autodeploy.npu.debug_db import debug_tables, origins, positions
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.evaluate import evaluate
from pytest_autodeploy.npu.log import operation_counts, reasons, warnings
from pytest_autodeploy.npu.results import Unavailable
from tests.helpers.npu_examples import (
    FIRST,
    MIXED,
    REASONS,
    SYSTEM,
    cpu_estimate,
    mixed_estimate,
    mixed_model,
    model,
    two_layers,
    whole_estimate,
)
from tests.helpers.tflite_builder import running_sum
from tests.helpers.vela_csv import (
    LayerSpec,
    legacy_csv,
    log_text,
    perf_table,
    source_table,
    vela_output,
)


def test_a_model_that_runs_whole_on_the_npu_is_ok() -> None:
    estimate = whole_estimate()
    totals = estimate.totals
    assert (estimate.status, estimate.scope, estimate.degraded) == ("ok", "", ())
    assert (totals.total_cycles, totals.npu_cycles, totals.macs) == (400, 370, 96)
    assert totals.time_us == pytest.approx(0.8)
    assert totals.inferences_per_second == pytest.approx(1.25e6)
    assert (totals.sram_bytes, totals.off_chip_flash_bytes, totals.flash_bytes) == (64, 1536, 1536)


def test_a_memory_that_the_system_does_not_have_is_unavailable() -> None:
    totals = whole_estimate().totals
    assert totals.dram_bytes == Unavailable("Embedded has no DRAM")
    assert totals.on_chip_flash_cycles == Unavailable("Embedded has no on-chip flash")


def test_figures_of_a_model_that_is_partly_on_the_cpu_say_so() -> None:
    estimate = mixed_estimate()
    assert estimate.status == "partial"
    assert estimate.scope == "NPU part only, 2 of 4 operators"
    assert estimate.totals.total_cycles == 400
    assert str(estimate.totals.inferences_per_second) == (
        "unavailable, because Vela knows no time for the CPU, and the NPU runs 2 of 4 operators"
    )


def test_a_model_without_anything_on_the_npu_has_no_figures() -> None:
    estimate = cpu_estimate()
    assert estimate.status == "cpu_only"
    assert estimate.scope == "nothing runs on the NPU, 0 of 1 operators"
    values = vars(estimate.totals).values()
    assert set(values) == {Unavailable("nothing runs on the NPU")}
    assert estimate.cpu_operators[0].reason == "Float32 is not supported"


def test_no_cycles_for_what_runs_on_the_npu_are_no_estimate() -> None:
    output = vela_output([LayerSpec("first", 0)], 6)
    with pytest.raises(NpuEstimateFailed, match="Vela estimates no cycles") as error:
        evaluate(model(mixed_model()), SYSTEM, output, "5.2.0")
    assert error.value.kind == "no cycles"


def test_layers_are_rolled_up_to_the_operators_of_the_model() -> None:
    operators = mixed_estimate().operators
    assert [each.placement for each in operators] == [
        *("npu", "cpu", "removed", "removed", "npu", "cpu")
    ]
    first = operators[0]
    assert (first.name, first.output, first.layers) == ("FULLY_CONNECTED", "first", 2)
    assert (first.cycles, first.npu_cycles, first.npu_macs, first.macs) == (300, 280, 64, 64)
    assert (first.staging_bytes, first.constant_bytes) == (64, 64)


def test_an_operator_on_the_cpu_has_a_reason_and_no_figures() -> None:
    custom, real = mixed_estimate().cpu_operators
    assert (custom.name, custom.reason) == ("MyOperator", "Unsupported opType")
    assert real.reason == "Float32 is not supported; use INT8"
    assert (real.cycles, real.npu_cycles, real.staging_bytes, real.npu_macs) == (None,) * 4


def test_an_operator_on_the_cpu_without_a_reason_says_so() -> None:
    operators = mixed_estimate(log=log_text(MIXED)).cpu_operators
    assert operators[0].reason == "Vela gives no reason"


def test_coverage_counts_operators_without_the_removed_ones() -> None:
    coverage = mixed_estimate().coverage
    assert (coverage.npu, coverage.cpu, coverage.removed, coverage.share) == (2, 2, 2, 0.5)
    assert str(coverage) == "2 of 4 operators"


def test_coverage_by_macs_is_the_share_of_the_models_macs() -> None:
    layers = [FIRST, LayerSpec("second", 1, target="CPU")]
    estimate = evaluate(model(two_layers()), SYSTEM, vela_output(layers, 2), "5.2.0")
    assert estimate.coverage.macs == 64 / 96


def test_coverage_by_macs_is_unavailable_when_an_operator_has_unknown_ones() -> None:
    unknown = Unavailable("the MACs of MyOperator are unknown")
    assert mixed_estimate().coverage.macs == unknown


def test_without_a_debug_database_velas_own_counts_remain() -> None:
    estimate = mixed_estimate(perf="", source="")
    assert (estimate.operators, len(estimate.layers)) == ((), 5)
    assert estimate.scope == "NPU part only, 3 of 5 scheduled operations"
    assert estimate.degraded == ("Vela's debug database has 0 source operators, the model 6",)
    assert isinstance(estimate.coverage.macs, Unavailable)


def test_a_debug_database_of_other_layers_is_not_used() -> None:
    estimate = mixed_estimate(perf=perf_table([FIRST] * 5))
    assert estimate.degraded == ("Vela's debug database and its per-layer CSV do not agree",)


def test_layers_that_cannot_be_read_leave_the_totals() -> None:
    estimate = mixed_estimate(per_layer="Original Operator,Name\nConv2D,y\n")
    assert (estimate.layers, estimate.totals.total_cycles) == ((), 400)
    assert "there is no column 'NNG Operator'" in estimate.degraded[0]
    assert len(estimate.degraded) == 1


def test_sums_that_differ_from_the_summary_degrade_the_estimate() -> None:
    changed = {"cycles_total": 500, "cycles_npu": 371, "nn_macs": 97, "inference_time": 1e-6}
    assert mixed_estimate(summary=changed).degraded == (
        "the cycles of the layers add up to 400, the summary says 500",
        "the NPU cycles of the layers add up to 370, the summary says 371",
        "the MACs of the layers add up to 96, the summary says 97",
    )


def test_a_time_that_does_not_fit_the_clock_degrades_the_estimate() -> None:
    degraded = mixed_estimate(summary={"inference_time": 2e-6}).degraded
    assert degraded == ("the time of the summary is 1,000 cycles long, not its total",)


def test_other_counts_of_cpu_operations_degrade_the_estimate() -> None:
    log = log_text(MIXED, REASONS).replace("CPU operators = 2", "CPU operators = 3")
    assert mixed_estimate(log=log).degraded == ("2 layers are on the CPU, Vela counts 3",)


def test_more_sram_than_the_memory_mode_allows_is_a_warning() -> None:
    warned = mixed_estimate(summary={"arena_cache_size": 0.03125}).warnings
    assert warned == ("Vela uses 64 B of SRAM although the memory mode allows 32 B",)


def test_a_model_of_several_subgraphs_has_no_operators() -> None:
    content = running_sum()
    output = vela_output([FIRST, LayerSpec("z", 1, target="CPU")], 7)
    estimate = evaluate(model(content), SYSTEM, output, "5.2.0")
    assert estimate.operators == ()
    assert estimate.degraded == (
        "the model has 2 subgraphs, and Vela lists the layers of only one",
    )
    assert estimate.scope == "NPU part only, 1 of 2 scheduled operations"


def test_an_older_core_of_vela_is_recorded() -> None:
    estimate = mixed_estimate(per_layer=legacy_csv(MIXED))
    assert estimate.provenance.core == "legacy"


def test_an_unreadable_summary_is_no_estimate() -> None:
    output = dataclasses.replace(vela_output(MIXED, 6), summary="")
    with pytest.raises(NpuEstimateFailed, match="summary cannot be read: there is no column"):
        evaluate(model(mixed_model()), SYSTEM, output, "5.2.0")


def test_provenance_names_all_that_the_figures_depend_on() -> None:
    origin = mixed_estimate().provenance
    assert (origin.vela_version, origin.core, origin.config) == ("5.2.0", "regor", "my.ini")
    assert origin.model_sha256 == model(mixed_model()).sha256
    assert origin.config_sha256 == SYSTEM.sha256
    assert origin.arguments[:2] == ("--accelerator-config", "ethos-u55-128")


def test_an_estimate_is_plain_data_without_nan() -> None:
    for estimate in (whole_estimate(), mixed_estimate(), cpu_estimate()):
        plain = json.loads(json.dumps(msgspec.to_builtins(estimate), allow_nan=False))
        assert plain["scope"] == estimate.scope
        assert plain["coverage"]["text"] == str(estimate.coverage)
    assert plain["totals"]["total_cycles"] == {"reason": "nothing runs on the NPU"}


@pytest.mark.parametrize("name", ['a"b', "a,b", "two\nlines", "]]>", "<x>&", "9,9,9"])
def test_the_debug_database_is_read_whatever_tensors_are_called(name: str) -> None:
    layers = [LayerSpec(name, 3, cycles=5, macs=7), FIRST]
    text = (
        '<?xml version="1.0"?>\n<debug source="x">\n<table name="perf">\n<![CDATA[\n'
        f'{perf_table(layers)}]]>\n</table>\n<table name="source">\n<![CDATA[\n'
        f"{source_table(4)}]]>\n</table>\n</debug>\n"
    )
    tables = debug_tables(text)
    assert [(each.source_id, each.cycles, each.macs) for each in origins(tables["perf"])] == [
        (4, 5, 7),
        (1, 300, 64),
    ]
    assert positions(tables["source"]) == {1: 0, 2: 1, 3: 2, 4: 3}


def test_an_unknown_debug_database_gives_nothing() -> None:
    assert origins("id,name\n1,x\n") == []
    assert positions("id,name\n1,x\n") == {}
    assert debug_tables("") == {}


def test_reasons_of_all_versions_of_vela_5_are_read() -> None:
    older = "Warning (supported operators) operator:EXP ofm:y\nReason: Float32\nuse INT8\n"
    newer = "Warning (supported operators) operator: EXP, ofm: 'y'\nReason: Float32\nuse INT8\n\nx"
    for log in (older, newer):
        (reason,) = reasons(log)
        assert (reason.name, reason.output, reason.text) == ("EXP", "y", "Float32; use INT8")


def test_counts_and_warnings_are_found_in_the_log() -> None:
    log = "Warning: careful\nWarning: careful\nCPU operators = 19 (86.4%)\nNPU operators = 3 (1%)"
    assert operation_counts(log) == {"CPU": 19, "NPU": 3}
    assert warnings(log) == ["careful"]
