"""Figures for Prometheus, read by its own client."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.report.openmetrics import openmetrics_text, write_openmetrics
from pytest_autodeploy.report.results import ResultStore
from tests.helpers.report_examples import BOARD, MODEL, measurement, record, verdict

BEGAN = datetime(2026, 12, 1, tzinfo=UTC)


def text_of(*records: TestRecord) -> str:
    store = ResultStore()
    for each in records:
        store.add(each)
    return openmetrics_text(store.results(), BEGAN)


def samples(text: str) -> dict[str, Any]:
    """What both parsers read, which has to be the same; by name, the values and labels."""
    read = [
        [(each.name, each.labels, each.value) for family in parse(text) for each in family.samples]
        for parse in (openmetrics, prometheus)
    ]
    assert read[0] == read[1]
    return {name: (labels, value) for name, labels, value in read[0]}


def test_figures_are_in_base_units_with_their_source_and_board() -> None:
    values = (measurement("latency_median", 24_154.0, "us"), measurement("arena_used", 3904, "B"))
    found = samples(text_of(record("a", measurements=values)))
    labels, value = found["autodeploy_latency_median_seconds"]
    assert value == pytest.approx(0.024154)
    assert labels == {
        "model": "kws_ref_model",
        "board": "sim:apollo4p_evb",
        "serial": "",
        "clock": "HP",
        "source": values[0].source,
    }
    assert found["autodeploy_arena_used_bytes"][1] == 3904
    assert found["autodeploy_run_start_time_seconds"] == ({}, BEGAN.timestamp())


def test_limits_and_tests_are_counted_by_how_they_ended() -> None:
    found = samples(text_of(record("a", verdicts=(verdict(False),), outcome="failed")))
    assert found["autodeploy_limits"][0]["status"] == "FAIL"
    assert found["autodeploy_tests"][0]["outcome"] == "failed"


def test_what_is_not_known_is_left_out_and_never_zero() -> None:
    values = (measurement("energy_hp", math.nan, "uJ"), measurement("macs_rate", 5.0, "1/s"))
    found = samples(text_of(record("a", measurements=values)))
    assert "autodeploy_energy_hp_joules" not in found
    assert found["autodeploy_macs_rate_per_second"][1] == 5


@pytest.mark.parametrize("name", ['a "b"\\c', "line\nbreak", "größe_µ"])
def test_names_of_models_are_escaped(name: str) -> None:
    model, board = replace(MODEL, id=name, name=name), replace(BOARD, serial=name)
    labels, _ = samples(text_of(record("a", model=model, board=board)))["autodeploy_tests"]
    assert (labels["model"], labels["serial"]) == (name, name)


def test_a_unit_of_another_package_keeps_its_name() -> None:
    odd = Measurement("temperature core", 40.0, "°C", "lower", "measured")
    assert samples(text_of(record("a", measurements=(odd,))))["autodeploy_temperature_core__C"]


def test_several_models_and_boards_share_a_family() -> None:
    other = record("b", board=replace(BOARD, id="sim:apollo510_evb"))
    text = text_of(record("a"), other)
    assert text.count("# TYPE autodeploy_tests gauge") == 1
    assert len([line for line in text.splitlines() if line.startswith("autodeploy_tests{")]) == 2


def test_the_file_is_written_in_one_step(tmp_path: Path) -> None:
    write_openmetrics(tmp_path / "new" / "run.prom", [], BEGAN)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["run.prom"]
    assert samples((tmp_path / "new" / "run.prom").read_text())
