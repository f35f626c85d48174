"""The history of results: an SQLite file that many runs add to, also at the same time."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.baseline.history_tables import SCHEMA, make_tables
from pytest_autodeploy.baseline.history_uses import BoardHealth, add_uses, read_health
from pytest_autodeploy.baseline.measured import Measured
from pytest_autodeploy.board.use import BoardUse

BUSY_TIMEOUT_S = 30.0
KEPT_RUNS = 5000
KEPT_LAYERS = 200
"""Runs whose layers are kept: they are most of a file, and nobody looks at old ones."""

TREND_RUNS = 50


@dataclass(frozen=True)
class Run:
    """A run of pytest, as the history keeps it; ``id`` is what its user calls it."""

    started: str
    commit: Commit
    command: str
    plugin_version: str
    id: str = ""
    host: str = ""


@dataclass(frozen=True)
class Point:
    """A metric in one run; ``commit`` is empty when it is unknown.

    ``changed``: files were changed since the commit.
    """

    started: str
    commit: str
    value: float
    spread: float | None
    repeats: int
    changed: bool = False


class History:
    """A history file; made when something is added. Every method raises HistoryError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Open the file, or make it, so that a run does not end with an error."""
        with self._open():
            pass

    def add(
        self,
        run: Run,
        results: Sequence[Measured],
        keep: int = KEPT_RUNS,
        uses: Sequence[BoardUse] = (),
    ) -> None:
        """Add a run, its results and its boards, all or nothing; waits for other writers.

        Runs before the last ``keep`` are removed, and layers before the last ``KEPT_LAYERS``.
        """
        with self._open() as connection:
            commit = run.commit
            run_id = connection.execute(
                "INSERT INTO runs (started, commit_sha, changed, command, plugin_version, label,"
                " host, branch, pull_request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(run.started, commit.sha, commit.changed, run.command, run.plugin_version),
                    *(run.id, run.host, commit.branch, commit.pull_request),
                ),
            ).lastrowid
            for result in results:
                _add_result(connection, run_id, result)
            add_uses(connection, run_id, uses)
            _prune(connection, keep)

    def health(self) -> list[BoardHealth]:
        """Each board over all runs that are kept, those that broke most at the top."""
        with self._open() as connection:
            return read_health(connection, self.path)

    def points(self, result: Measured, metric: str, most: int = TREND_RUNS) -> list[Point]:
        """The last runs of a metric under the conditions of ``result``, oldest first."""
        return self.series(result, most, names=(metric,)).get(metric, [])

    def series(
        self,
        result: Measured,
        most: int = TREND_RUNS,
        pull_request: str = "",
        names: Sequence[str] = (),
    ) -> dict[str, list[Point]]:
        """The last runs of metrics of this model on this very board, oldest first.

        Those of ``names``, by default what ``result`` has. Runs for pull requests are left out, but
        for those of ``pull_request``.
        """
        wanted = [*names] or [item.name for item in result.measurements]
        with self._open() as connection:
            runs = {
                result_id: (started, commit, changed)
                for result_id, started, commit, changed in connection.execute(
                    "SELECT results.id, started, commit_sha, changed FROM results"
                    " JOIN runs ON runs.id = run_id WHERE model = ? AND board = ? AND kind = ?"
                    " AND source = ? AND clock = ? AND clock_hz = ? AND engine = ? AND serial = ?"
                    " AND pull_request IN ('', ?) ORDER BY results.id DESC LIMIT ?",
                    (*_conditions(result), pull_request, most),
                )
            }
            rows = connection.execute(
                "SELECT result_id, name, value, spread, repeats FROM metrics"
                " WHERE result_id IN (SELECT value FROM json_each(?))"
                " AND name IN (SELECT value FROM json_each(?)) ORDER BY result_id",
                (json.dumps(list(runs)), json.dumps(wanted)),
            ).fetchall()
        found: dict[str, list[Point]] = {}
        for result_id, name, *values in rows:
            point = self._point((*runs[result_id], *values))
            if math.isfinite(point.value):  # a board may give infinity
                found.setdefault(name, []).append(point)
        return found

    def _point(self, row: Sequence[Any]) -> Point:
        """A row of the file as what it has to be: SQLite keeps any type in any column."""
        started, commit, changed, value, spread, repeats = row
        texts = all(isinstance(text, str) and text.isprintable() for text in (started, commit))
        number = type(value) in (int, float)
        known = spread is None or (type(spread) in (int, float) and 0 <= spread < math.inf)
        if not (texts and number and known and type(repeats) is int and repeats >= 1):
            raise HistoryError(
                f"history {self.path}: a run of {str(started)!r:.40} has values that none can have",
                hint="restore it from a copy, or give another file: a new one is made",
            )
        return Point(started, commit, float(value), spread, repeats, bool(changed))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the file, whose tables are made when they are not there."""
        connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, BUSY_TIMEOUT_S, isolation_level=None)
            # A view or a trigger in a file from outside runs nothing but SQLite's own functions.
            connection.execute("PRAGMA trusted_schema = OFF")
            _keep_a_log_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            self._prepare(connection)
            yield connection
            connection.execute("COMMIT")
        # sqlite3 (Python 3.11) cannot tell what SQLite says of a schema that is not UTF-8.
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
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
        if not version and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise HistoryError(
                f"history {self.path}: a database of something else",
                hint="give another file: a new one is made",
            )
        make_tables(connection, version)


def _conditions(result: Measured) -> tuple[object, ...]:
    """What a trend is of: the columns of the index, in their order."""
    board = result.board
    of_board = board.name, board.kind, board.source, board.clock, board.clock_hz, board.engine
    return (result.model.id, *of_board, board.one or "")


def _keep_a_log_ahead(connection: sqlite3.Connection) -> None:
    """SQLite (3.40) does not wait for the lock that a new file's change to this journal needs."""
    ends = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(0.01)


def _add_result(connection: sqlite3.Connection, run_id: int | None, result: Measured) -> None:
    model, board = result.model, result.board
    facts = (
        *(board.name, board.kind, board.source, board.clock, board.clock_hz),
        *(board.engine, board.engine_version or "", board.build_id or ""),
    )
    result_id = connection.execute(
        "INSERT INTO results (run_id, model, model_sha256, board, kind, source, clock, clock_hz,"
        " engine, engine_version, build_id, passed, serial)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (run_id, model.id, model.sha256, *facts, result.passed, board.one or ""),
    ).lastrowid
    figures = [(m.name, m.unit, m.better, m.source) for m in result.measurements]
    connection.executemany(
        "INSERT OR IGNORE INTO figures (name, unit, better, source) VALUES (?, ?, ?, ?)", figures
    )
    connection.executemany(
        "INSERT INTO metric_values SELECT ?, id, ?, ?, ? FROM figures"
        " WHERE name = ? AND unit = ? AND better = ? AND source = ?",
        [
            (result_id, m.value, m.spread, m.repeats, *figure)
            for m, figure in zip(result.measurements, figures, strict=True)
        ],
    )
    connection.executemany(
        "INSERT INTO layers VALUES (?, ?, ?, ?, ?)",
        [
            (result_id, layer.index, layer.tag, layer.us, layer.spread_us)
            for layer in (result.profile.layers if result.profile else ())
        ],
    )


def _prune(connection: sqlite3.Connection, keep: int) -> None:
    """Remove what is older than the last runs."""
    for table, kept in (("metric_values", keep), ("layers", min(keep, KEPT_LAYERS))):
        connection.execute(
            f"DELETE FROM {table} WHERE result_id < (SELECT min(results.id) FROM results"  # noqa: S608
            " WHERE run_id > (SELECT max(id) FROM runs) - ?)",
            (kept,),
        )
    for table, column in (("results", "run_id"), ("board_uses", "run_id"), ("runs", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE {column} <= (SELECT max(id) FROM runs) - ?",  # noqa: S608
            (keep,),
        )
