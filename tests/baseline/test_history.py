"""The history file: runs are added whole, at the same time, and jumps are found."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.baseline.history import History, Point, Run
from pytest_autodeploy.baseline.measured import Measured
from pytest_autodeploy.baseline.trend import find_jumps
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.report.baseline_html import trends_html
from tests.helpers.baseline_examples import CONDITIONS
from tests.helpers.support import ROOT

BOARD = BoardFacts(
    id="sim:apollo4p_evb",
    name=CONDITIONS.board,
    kind=CONDITIONS.kind,
    source="modelled",
    core=CONDITIONS.core,
    engine=CONDITIONS.engine,
    engine_version="1",
    build_id="sim-1",
    clock=CONDITIONS.clock,
    clock_hz=CONDITIONS.clock_hz,
)


LIMIT = default_regression()


def run(commit: str = "0a" * 20) -> Run:
    return Run("2026-01-01T10:00:00+00:00", Commit(commit), "pytest", "0.1.0")


def result(us: float = 1000.0, **board: Any) -> Measured:
    latency = Measurement("latency_median", us, "us", "lower", "modelled", spread=1.0, repeats=10)
    profile = LayerProfile((Layer(0, "CONV_2D", us, 1),), "warm", (), "modelled")
    model = ModelFacts("kws<b>", "kws<b>", "kws.tflite", sha256="ab" * 32)
    return Measured(model, replace(BOARD, **board), [latency], profile, passed=True)


def points(*values: float, spread: float = 0.0) -> list[Point]:
    return [
        Point(f"2026-01-{day:02}T10:00:00", f"{day:040x}", value, spread, 10)
        for day, value in enumerate(values, 1)
    ]


def test_runs_are_kept_in_order_with_their_commits(tmp_path: Path) -> None:
    history = History(tmp_path / "new" / "history.sqlite")
    for number in range(3):
        history.add(run(f"commit{number}"), [result(1000 + number)])
    found = history.points(result(), "latency_median")
    assert [(point.commit, point.value) for point in found] == [
        ("commit0", 1000),
        ("commit1", 1001),
        ("commit2", 1002),
    ]


def test_only_equal_conditions_are_in_a_trend(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add(run(), [result(), result(clock="LP"), result(kind="hardware", source="measured")])
    assert len(history.points(result(), "latency_median")) == 1


def test_the_recipe_of_the_documentation_works(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    History(path).add(run(), [result()])
    readme = ROOT / "examples" / "regression_gate" / "README.md"
    queries = readme.read_text(encoding="utf-8").split("```sql\n")[1:]
    assert queries
    with sqlite3.connect(path) as connection:
        for query in queries:
            assert connection.execute(query.partition("```")[0]).fetchall()
    connection.close()


def add_runs(path: Path) -> None:
    for _ in range(20):
        History(path).add(run(), [result()])


def test_two_processes_can_add_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(add_runs, [path, path]))
    assert len(History(path).points(result(), "latency_median")) == 40
    assert History(path).points(result(), "latency_median", most=3)


def test_a_run_that_fails_to_be_added_leaves_nothing(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    broken = result()
    broken = Measured(broken.model, broken.board, [*broken.measurements] * 2, None, passed=True)
    with pytest.raises(HistoryError, match="UNIQUE"):
        history.add(run(), [result(), broken])
    assert history.points(result(), "latency_median") == []


def test_what_is_no_history_is_refused(tmp_path: Path) -> None:
    text, other, newer = (tmp_path / name for name in ("text", "other", "newer"))
    text.write_text("this is no database, but a text that is long enough to be looked at" * 20)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    History(newer).check()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    for path, says in ((text, "not a database"), (other, "else"), (newer, "has schema 3")):
        with pytest.raises(HistoryError, match=says):
            History(path).check()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("value", "'fast'"),
        ("value", "x'00'"),
        ("spread", "'?'"),
        ("spread", "-1.0"),
        ("repeats", "0"),
        ("repeats", "'many'"),
    ],
)
def test_a_value_of_another_type_is_refused(tmp_path: Path, column: str, value: str) -> None:
    """SQLite keeps any type in any column, and the file may come from somebody else."""
    history = History(tmp_path / "history.sqlite")
    history.add(run(), [result()])
    with sqlite3.connect(history.path) as connection:
        connection.execute(f"UPDATE metrics SET {column} = {value}")  # noqa: S608  # of above
    connection.close()
    with pytest.raises(HistoryError, match="has values that none can have"):
        history.points(result(), "latency_median")


def test_a_run_that_is_not_finite_is_no_point_of_a_trend(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add(run(), [result(float("inf"))])
    history.add(run(), [result(7.0)])
    assert [point.value for point in history.points(result(), "latency_median")] == [7.0]


def test_a_jump_is_found_where_the_level_changed() -> None:
    assert find_jumps(points(100, 101, 99, 150, 151, 150), "latency_median", "us", LIMIT) == [3]
    assert find_jumps(points(100, 100, 150), "latency_median", "us", LIMIT) == [2]
    assert find_jumps(points(100, 100, 50, 50, 90, 90), "latency_median", "us", LIMIT) == [2, 4]


def test_an_outlier_noise_and_drift_below_the_threshold_are_no_jumps() -> None:
    assert find_jumps(points(1000, 1000, 1500, 1000), "latency_median", "us", LIMIT) == []
    assert find_jumps(points(1000, 1030, 1010, 1040), "latency_median", "us", LIMIT) == []
    noisy = points(1000, 1100, 1000, 1100, spread=80.0)
    assert find_jumps(noisy, "latency_median", "us", LIMIT) == []


def test_the_trend_names_the_commit_of_a_jump_and_escapes(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    assert trends_html(history, [result()], LIMIT) == ""
    for number, us in enumerate((1000, 1000, 1500, 1500)):
        history.add(run(f"c0ffee{number}"), [result(us)])
    html = trends_html(history, [result()], LIMIT)
    assert "+50 %" in html
    assert "c0ffee2" in html
    assert html.count("<circle") == 4
    assert "kws&lt;b&gt;" in html


def test_a_history_of_schema_1_gets_the_column_for_run_ids(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    History(path).check()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN label")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO runs VALUES (NULL, 'then', '', 0, 'pytest', '0.1')")
    History(path).check()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT started, label FROM runs").fetchall() == [("then", "")]
