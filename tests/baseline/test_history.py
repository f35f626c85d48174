"""The history file: runs are added whole, at the same time, and jumps are found."""

from __future__ import annotations

import random
import re
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.baseline.commit import BRANCHES, PULL_REQUESTS, Commit, current_commit
from pytest_autodeploy.baseline.drift import find_drift
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.baseline.history import History, Point, Run
from pytest_autodeploy.baseline.measured import Measured
from pytest_autodeploy.baseline.trend import drift_lines, find_jumps
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

VERSION_1 = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, commit_sha TEXT NOT NULL,
    changed INTEGER NOT NULL, command TEXT NOT NULL, plugin_version TEXT NOT NULL);
CREATE TABLE results (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs,
    model TEXT NOT NULL, model_sha256 TEXT NOT NULL, board TEXT NOT NULL, kind TEXT NOT NULL,
    source TEXT NOT NULL, clock TEXT NOT NULL, clock_hz INTEGER NOT NULL, engine TEXT NOT NULL,
    engine_version TEXT NOT NULL, build_id TEXT NOT NULL, passed INTEGER NOT NULL);
CREATE TABLE metrics (
    result_id INTEGER NOT NULL REFERENCES results, name TEXT NOT NULL, value REAL NOT NULL,
    unit TEXT NOT NULL, better TEXT NOT NULL, source TEXT NOT NULL, spread REAL,
    repeats INTEGER NOT NULL, PRIMARY KEY (result_id, name));
CREATE TABLE layers (
    result_id INTEGER NOT NULL REFERENCES results, number INTEGER NOT NULL,
    operator TEXT NOT NULL, us REAL NOT NULL, spread_us REAL, PRIMARY KEY (result_id, number));
CREATE INDEX results_by_model ON results (model, board, run_id);
PRAGMA user_version = 1;
INSERT INTO runs VALUES (1, '2026-01-01T10:00:00+00:00', 'old', 0, 'pytest', '0.1.0');
INSERT INTO results VALUES (1, 1, 'kws<b>', 'ab', 'apollo4p_evb', 'simulated', 'modelled', 'HP',
    192000000, 'tflm', '1', 'sim-1', 1);
INSERT INTO metrics VALUES (1, 'latency_median', 1000, 'us', 'lower', 'modelled', 1.0, 10);
INSERT INTO layers VALUES (1, 0, 'CONV_2D', 1000, NULL);
"""
"""A history as version 0.1 of the tables had it."""


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


def make_all(paths: list[Path]) -> None:
    for path in paths:
        History(path).check()


def test_two_processes_can_add_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(add_runs, [path, path]))
    assert len(History(path).points(result(), "latency_median")) == 40
    assert History(path).points(result(), "latency_median", most=3)


def test_files_that_two_processes_make_at_once_are_made(tmp_path: Path) -> None:
    """A new file changes its journal, for which SQLite does not wait by itself."""
    paths = [tmp_path / f"{number}.sqlite" for number in range(100)]
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(make_all, [paths, paths]))
    assert all(path.exists() for path in paths)


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
        connection.execute("PRAGMA user_version = 5")
    connection.close()
    for path, says in ((text, "not a database"), (other, "else"), (newer, "has schema 5")):
        with pytest.raises(HistoryError, match=says):
            History(path).check()


def test_a_schema_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    made, damaged = tmp_path / "made.sqlite", tmp_path / "damaged.sqlite"
    History(made).check()
    content = made.read_bytes()
    assert b"CREATE TABLE runs" in content
    damaged.write_bytes(content.replace(b"CREATE TABLE runs", b"CREATE TA\xffLE runs"))
    with pytest.raises(HistoryError, match=r"damaged.sqlite: .*utf-8"):
        History(damaged).check()


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
        connection.execute(f"UPDATE metric_values SET {column} = {value}")  # noqa: S608  # of above
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


def test_equal_boards_have_trends_of_their_own(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add(run(), [result(1000, serial="1")])
    history.add(run(), [result(2000, serial="2")])
    assert [p.value for p in history.points(result(serial="1"), "latency_median")] == [1000]
    assert history.points(result(), "latency_median") == []
    history.add(run(), [result(3000, rig_name="lab3-a"), result(4000, rig_name="lab3-b")])
    found = history.points(result(rig_name="lab3-b"), "latency_median")
    assert [point.value for point in found] == [4000]


def test_runs_for_pull_requests_are_in_no_trend_but_their_own(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    for value, pull_request in ((1, ""), (2, "7"), (3, "8"), (4, "")):
        commit = Commit("0a", branch="b", pull_request=pull_request)
        history.add(replace(run(), commit=commit), [result(value)])
    for pull_request, values in (("", [1, 4]), ("7", [1, 2, 4])):
        found = history.series(result(), pull_request=pull_request)["latency_median"]
        assert [point.value for point in found] == values


def test_a_run_says_where_and_of_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    commit = Commit("0a", changed=True, branch="main")
    History(path).add(replace(run(), commit=commit, host="rig-1"), [result(serial="801000123")])
    with sqlite3.connect(path) as connection:
        (row,) = connection.execute(
            "SELECT host, branch, changed, serial FROM runs JOIN results ON run_id = runs.id"
        )
    connection.close()
    assert row == ("rig-1", "main", 1, "801000123")
    (point,) = History(path).points(result(serial="801000123"), "latency_median")
    assert point.changed


@pytest.mark.parametrize(
    ("variables", "branch", "pull_request"),
    [
        ({"GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main"}, "main", ""),
        ({"GITHUB_REF": "refs/pull/12/merge", "GITHUB_HEAD_REF": "faster"}, "faster", "12"),
        ({"CI_COMMIT_REF_NAME": "faster", "CI_MERGE_REQUEST_IID": "3"}, "faster", "3"),
    ],
)
def test_ci_systems_say_the_branch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    branch: str,
    pull_request: str,
) -> None:
    for name in (*BRANCHES, *PULL_REQUESTS, "GITHUB_REF"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = current_commit(tmp_path)
    assert (found.branch, found.pull_request) == (branch, pull_request)


def test_old_runs_and_older_layers_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    for number in range(8):
        History(path).add(run(), [result(number)], keep=5)
    found = History(path).points(result(), "latency_median")
    assert [point.value for point in found] == [3, 4, 5, 6, 7]
    with sqlite3.connect(path) as connection:
        for table in ("runs", "results", "metric_values", "layers"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (5,)  # noqa: S608
    connection.close()


WITH_LABEL = "ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT ''; PRAGMA user_version = 2;"


@pytest.mark.parametrize("more", ["", WITH_LABEL], ids=["1", "2"])
def test_a_history_of_an_earlier_version_goes_on(tmp_path: Path, more: str) -> None:
    path = tmp_path / "history.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(VERSION_1 + more)
    connection.close()
    History(path).add(run("new"), [result(1500)])
    found = History(path).points(result(), "latency_median")
    assert [(point.commit, point.value) for point in found] == [("old", 1000), ("new", 1500)]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM layers").fetchone() == (2,)
        labels = connection.execute("SELECT started, label FROM runs").fetchall()
        assert labels[0] == ("2026-01-01T10:00:00+00:00", "")
    connection.close()


def test_a_long_history_costs_a_report_little(tmp_path: Path) -> None:
    """The trend of one model is found by the index, however many others there are."""
    path = tmp_path / "history.sqlite"
    History(path).check()
    with sqlite3.connect(path) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT results.id FROM results JOIN runs ON runs.id = run_id"
            " WHERE model = 'm' AND board = 'b' AND kind = 'k' AND source = 's' AND clock = 'c'"
            " AND clock_hz = 1 AND engine = 'e' AND serial = '' AND pull_request IN ('', '')"
            " ORDER BY results.id DESC LIMIT 50"
        ).fetchall()
    connection.close()
    words = " ".join(str(step[-1]) for step in plan)
    assert "results_by_trend" in words
    assert "SCAN" not in words
    assert "TEMP B-TREE" not in words


def test_a_slow_drift_is_found_though_no_step_is_a_jump() -> None:
    noise = random.Random(5)
    values = [1000 * 1.005**n * noise.gauss(1, 0.005) for n in range(41)]
    drift = find_drift(values, [0.0] * 41)
    assert drift is not None
    assert drift.slow
    assert drift.now / drift.before == pytest.approx(1.005**40, rel=0.05)


def test_a_change_point_is_found_to_the_run() -> None:
    noise = random.Random(6)
    values = [(1000 if n < 20 else 1100) * noise.gauss(1, 0.01) for n in range(50)]
    drift = find_drift(values, [0.0] * 50)
    assert drift is not None
    assert (drift.slow, drift.since) == (False, 20)
    assert drift.now / drift.before == pytest.approx(1.1, rel=0.01)


def test_noise_alone_does_not_drift() -> None:
    source = random.Random(7)
    found = [
        find_drift([source.gauss(1000, 20) for _ in range(50)], [0.0] * 50) for _ in range(500)
    ]
    assert sum(1 for each in found if each is not None) <= 5
    assert find_drift([1000.0] * 50, [0.0] * 50) is None
    assert find_drift([1000.0] * 49 + [5000.0], [0.0] * 50) is None  # a single outlier


def test_a_drift_is_told_also_when_each_step_passed(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    for number in range(41):
        history.add(run(f"{number:012x}aa"), [result(10_000 * 1.005**number)])
    assert (
        find_jumps(history.points(result(), "latency_median")[:3], "latency_median", "us", LIMIT)
        == []
    )
    (line,) = drift_lines(history, [result()], LIMIT)
    assert re.fullmatch(
        r"kws<b> on sim:apollo4p_evb: latency_median slowly, \+2\d.* % since commit 00000000000\d, "
        r"(40|39|38) runs ago",
        line,
    )
    assert "slowly, +2" in trends_html(history, [result()], LIMIT)


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
