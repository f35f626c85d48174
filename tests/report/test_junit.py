"""JUnit properties."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.report.junit import properties
from tests.helpers.report_examples import AGREEMENT, MODEL, measurement, record, setup_failure


def test_every_measurement_has_its_unit_and_its_source() -> None:
    found = dict(properties(record()))
    assert found["autodeploy.latency_median_us"] == 320648
    assert found["autodeploy.latency_median_us.source"] == "modelled"
    assert found["autodeploy.arena_used_bytes"] == 22928
    assert found["autodeploy.macs"] == 2656768
    assert found["autodeploy.macs.source"] == "estimated"
    assert found["autodeploy.macs_per_second"] == 8285621


def test_hashes_and_facts() -> None:
    found = dict(properties(record()))
    assert found["autodeploy.model_sha256"] == "5c" * 32
    assert found["autodeploy.board_id"] == "sim:apollo4p_evb"
    assert found["autodeploy.board_build_id"] == "b1946ac9"
    assert found["autodeploy.source"] == "modelled"
    assert found["autodeploy.seed"] == 42
    assert found["autodeploy.output_agreement"] == "pass"


def test_every_output_has_its_errors_by_its_number() -> None:
    (output,) = AGREEMENT.outputs
    outputs = (output, replace(output, nse=None))
    found = dict(properties(record(agreement=replace(AGREEMENT, outputs=outputs))))
    assert found["autodeploy.output_0_mean_abs_real"] == 3.26e-05
    assert found["autodeploy.output_0_relative_l2"] == 0.00108
    assert found["autodeploy.output_0_nse"] == 0.999953
    assert found["autodeploy.output_1_rmse_real"] == 0.000357
    assert "autodeploy.output_1_nse" not in found


def test_a_setup_failure_has_what_is_known() -> None:
    found = dict(properties(setup_failure()))
    assert found["autodeploy.model_id"] == "kws_ref_model"
    assert "autodeploy.source" not in found


def test_values_are_plain_and_names_harmless() -> None:
    evil = record(
        model=replace(MODEL, id="<x>\x1b"),
        measurements=(measurement('a b"<', 1, "<&"),),
        agreement=None,
    )
    found = properties(evil)
    assert {type(value) for _, value in found} <= {str, int, float}
    assert ("autodeploy.a_b_____", 1) in found
    assert ("autodeploy.model_id", "<x>?") in found
