"""The history of results: an SQLite file that many runs add to, also at the same time."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.baseline.measured import Measured

SCHEMA = 2
BUSY_TIMEOUT_S = 30.0

_TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, commit_sha TEXT NOT NULL,
    changed INTEGER NOT NULL, command TEXT NOT NULL, plugin_version TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '');
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
"""

_WITH_LABEL = "ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT ''"
"""What schema 2 has more than schema 1."""


@dataclass(frozen=True)
class Run:
    """A run of pytest, as the history keeps it; ``id`` is what its user calls it."""

    started: str
    commit: Commit
    command: str
    plugin_version: str
    id: str = ""


@dataclass(frozen=True)
class Point:
    """A metric in one run; ``commit`` is empty when it is unknown."""

    started: str
    commit: str
    value: float
    spread: float | None
    repeats: int


class History:
    """A history file; made when something is added. Every method raises HistoryError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Open the file, or make it, so that a run does not end with an error."""
        with self._open():
            pass

    def add(self, run: Run, results: Sequence[Measured]) -> None:
        """Add a run and its results, all or nothing; waits for other writers."""
        with self._open() as connection:
            run_id = connection.execute(
                "INSERT INTO runs VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (
                    *(run.started, run.commit.sha, run.commit.changed),
                    *(run.command, run.plugin_version, run.id),
                ),
            ).lastrowid
            for result in results:
                _add_result(connection, run_id, result)

    def points(self, result: Measured, metric: str, most: int = 50) -> list[Point]:
        """The last runs of a metric under the conditions of ``result``, oldest first."""
        board = result.board
        conditions = (
            *(board.name, board.kind, board.source),
            *(board.clock, board.clock_hz, board.engine),
        )
        with self._open() as connection:
            rows = connection.execute(
                "SELECT started, commit_sha, value, spread, repeats FROM metrics"
                " JOIN results ON results.id = result_id JOIN runs ON runs.id = run_id"
                " WHERE name = ? AND model = ? AND board = ? AND kind = ? AND results.source = ?"
                " AND clock = ? AND clock_hz = ? AND engine = ? ORDER BY runs.id DESC LIMIT ?",
                (metric, result.model.id, *conditions, most),
            ).fetchall()
        points = map(self._point, reversed(rows))
        return [point for point in points if math.isfinite(point.value)]  # a board may give NaN

    def _point(self, row: Sequence[Any]) -> Point:
        """A row of the file as what it has to be: SQLite keeps any type in any column."""
        started, commit, value, spread, repeats = row
        texts = all(isinstance(text, str) and text.isprintable() for text in (started, commit))
        number = type(value) in (int, float)
        known = spread is None or (type(spread) in (int, float) and 0 <= spread < math.inf)
        if not (texts and number and known and type(repeats) is int and repeats >= 1):
            raise HistoryError(
                f"history {self.path}: a run of {str(started)!r:.40} has values that none can have",
                hint="restore it from a copy, or give another file: a new one is made",
            )
        return Point(started, commit, float(value), spread, repeats)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the file, whose tables are made when they are not there."""
        connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, BUSY_TIMEOUT_S, isolation_level=None)
            # A view or a trigger in a file from outside runs nothing but SQLite's own functions.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            self._prepare(connection)
            yield connection
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise HistoryError(
                f"history {self.path}: {error}",
                hint="restore it from a copy, or give another file: a new one is made",
            ) from error
        finally:
            if connection is not None:
                connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise HistoryError(
                f"history {self.path} has schema {version}, this version knows up to {SCHEMA}",
                hint="a newer version wrote it: upgrade pytest-autodeploy",
            )
        if version == SCHEMA:
            return
        if version == 1:
            connection.execute(_WITH_LABEL)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            return
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise HistoryError(
                f"history {self.path}: a database of something else",
                hint="give another file: a new one is made",
            )
        for statement in _TABLES.split(";")[:-1]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _add_result(connection: sqlite3.Connection, run_id: int | None, result: Measured) -> None:
    model, board = result.model, result.board
    facts = (
        *(board.name, board.kind, board.source, board.clock, board.clock_hz),
        *(board.engine, board.engine_version, board.build_id),
    )
    result_id = connection.execute(
        "INSERT INTO results VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (run_id, model.id, model.sha256, *facts, result.passed),
    ).lastrowid
    connection.executemany(
        "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (result_id, m.name, m.value, m.unit, m.better, m.source, m.spread, m.repeats)
            for m in result.measurements
        ],
    )
    connection.executemany(
        "INSERT INTO layers VALUES (?, ?, ?, ?, ?)",
        [
            (result_id, layer.index, layer.tag, layer.us, layer.spread_us)
            for layer in (result.profile.layers if result.profile else ())
        ],
    )
