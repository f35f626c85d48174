"""The tables of a history file, and how those of earlier versions become them."""

from __future__ import annotations

import sqlite3

SCHEMA = 4

_RUNS = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, commit_sha TEXT NOT NULL,
    changed INTEGER NOT NULL, command TEXT NOT NULL, plugin_version TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '', host TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '',
    pull_request TEXT NOT NULL DEFAULT '');
CREATE TABLE results (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs,
    model TEXT NOT NULL, model_sha256 TEXT NOT NULL, board TEXT NOT NULL, kind TEXT NOT NULL,
    source TEXT NOT NULL, clock TEXT NOT NULL, clock_hz INTEGER NOT NULL, engine TEXT NOT NULL,
    engine_version TEXT NOT NULL, build_id TEXT NOT NULL, passed INTEGER NOT NULL,
    serial TEXT NOT NULL DEFAULT '');
"""
_VALUES = """
CREATE TABLE figures (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL,
    source TEXT NOT NULL, UNIQUE (name, unit, better, source));
CREATE TABLE metric_values (
    result_id INTEGER NOT NULL REFERENCES results, figure_id INTEGER NOT NULL REFERENCES figures,
    value REAL NOT NULL, spread REAL, repeats INTEGER NOT NULL,
    PRIMARY KEY (result_id, figure_id)) WITHOUT ROWID;
"""
_LAYERS = """
CREATE TABLE layers (
    result_id INTEGER NOT NULL REFERENCES results, number INTEGER NOT NULL,
    operator TEXT NOT NULL, us REAL NOT NULL, spread_us REAL, PRIMARY KEY (result_id, number));
"""
_USES = """
CREATE TABLE board_uses (
    run_id INTEGER NOT NULL REFERENCES runs, board TEXT NOT NULL, name TEXT NOT NULL,
    serial TEXT NOT NULL, port TEXT NOT NULL, flashes INTEGER NOT NULL, breaks INTEGER NOT NULL,
    retries INTEGER NOT NULL, retransmissions INTEGER NOT NULL, clock_ppm REAL);
CREATE INDEX board_uses_by_run ON board_uses (run_id);
"""
_LOOKING = """
CREATE VIEW metrics AS SELECT result_id, name, value, unit, better, source, spread, repeats
    FROM metric_values JOIN figures ON figures.id = figure_id;
CREATE INDEX results_by_trend ON results
    (model, board, kind, source, clock, clock_hz, engine, serial);
CREATE INDEX results_by_run ON results (run_id);
"""
_FROM_1 = """
ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT '';
"""
_FROM_2 = """
DROP INDEX results_by_model;
ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN branch TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN pull_request TEXT NOT NULL DEFAULT '';
ALTER TABLE results ADD COLUMN serial TEXT NOT NULL DEFAULT '';
ALTER TABLE metrics RENAME TO metrics_2;
"""
_VALUES_FROM_2 = """
INSERT INTO figures (name, unit, better, source)
    SELECT DISTINCT name, unit, better, source FROM metrics_2;
INSERT INTO metric_values SELECT result_id, figures.id, value, spread, repeats FROM metrics_2
    JOIN figures USING (name, unit, better, source);
DROP TABLE metrics_2;
"""


def make_tables(connection: sqlite3.Connection, version: int) -> None:
    """Make the tables of a new file (``version`` 0), or make them from those of an earlier one."""
    before = {
        0: (_RUNS, _VALUES, _LAYERS, _LOOKING),
        1: (_FROM_1, _FROM_2, _VALUES, _VALUES_FROM_2, _LOOKING),
        2: (_FROM_2, _VALUES, _VALUES_FROM_2, _LOOKING),
        3: (),
    }
    for statements in (*before[version], _USES):
        for statement in statements.split(";")[:-1]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
