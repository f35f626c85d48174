"""What a long history costs a report: 5,000 runs of 20 models.

``pytest tests/benchmarks/bench_history.py -o python_files='bench_*.py' -s``
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.history import History, Run
from pytest_autodeploy.baseline.measured import Measured
from pytest_autodeploy.baseline.trend import drift_lines
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.records.facts import ModelFacts
from pytest_autodeploy.report.baseline_html import trends_html
from tests.helpers.synthetic_rig import BOARD

RUNS, MODELS, METRICS = 5000, 20, 15
KEPT = ("latency_median", "arena_used", "model_size", "energy_hp", "energy_lp")


def results(factor: float) -> list[Measured]:
    """What a run has measured of each model."""
    names = [*KEPT, *(f"other_{number}" for number in range(METRICS - len(KEPT)))]
    board = replace(BOARD, engine_version="1", build_id="b")
    return [
        Measured(
            ModelFacts(f"model_{number}", "m", "m.tflite", sha256=f"{number:064x}"),
            board,
            [
                Measurement(name, 1000 * factor, "us", "lower", "measured", spread=3.0, repeats=10)
                for name in names
            ],
            None,
            True,
        )
        for number in range(MODELS)
    ]


def test_a_report_of_a_long_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.sqlite"
    run = Run("2026-01-01T10:00:00+00:00", Commit("0a" * 20), "pytest", "0.1.0")
    History(path).add(run, results(1.0))
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(2, RUNS + 1):
            connection.execute(
                "INSERT INTO runs SELECT ?, started, commit_sha, changed, command, plugin_version,"
                " host, branch, pull_request FROM runs WHERE id = 1",
                (number,),
            )
            offset = (number - 1) * MODELS
            connection.execute(
                "INSERT INTO results SELECT id + ?, ?, model, model_sha256, board, kind, source,"
                " clock, clock_hz, engine, engine_version, build_id, passed, serial FROM results"
                " WHERE run_id = 1",
                (offset, number),
            )
            connection.execute(
                "INSERT INTO metric_values SELECT result_id + ?, figure_id,"
                " value * (1 + 0.0001 * abs(random() % 100)), spread, repeats"
                " FROM metric_values WHERE result_id <= ?",
                (offset, MODELS),
            )
    limit, now = default_regression(), results(1.0)
    began = time.process_time()
    History(path).add(run, now)
    added = time.process_time()
    html = trends_html(History(path), now, limit)
    shown = time.process_time()
    list(drift_lines(History(path), now, limit))
    told = time.process_time()
    assert html.count("Trend of") == MODELS
    with capsys.disabled():
        print(
            f"\n{RUNS} runs of {MODELS} models, {METRICS} metrics: {path.stat().st_size >> 20} MB;"
            f" processor: adding a run {added - began:.2f} s, trends in HTML {shown - added:.2f} s,"
            f" drift in the terminal {told - shown:.2f} s"
        )
    assert shown - added < 0.5
