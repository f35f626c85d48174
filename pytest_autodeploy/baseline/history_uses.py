"""What boards went through, as a history keeps it: a row for each board of each run."""

from __future__ import annotations

import math
import sqlite3
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.board.use import BoardUse

_CLOCK_RUNS = 5
"""Runs at either end whose median is what a clock was and is: a single one is noise of the PC."""


@dataclass(frozen=True)
class BoardHealth:
    """A board over the runs of a history.

    ``board`` is what was asked for last; ``name``, ``serial``, ``port`` and ``host`` are empty
    where they are not known or do not tell it apart. The counts are sums over its ``runs``, as in
    ``BoardUse``; ``broke_in``: runs in which it broke, ``broke_last``: when the last of them began
    (ISO 8601, empty: never). ``clock_ppm`` is what its clock is off now, ``clock_drift_ppm`` by how
    much that changed since its first runs: medians of up to five, None where nothing was measured.
    """

    board: str
    name: str
    serial: str
    port: str
    host: str
    runs: int
    last: str
    flashes: int
    breaks: int
    broke_in: int
    broke_last: str
    retries: int
    retransmissions: int
    clock_ppm: float | None
    clock_drift_ppm: float | None

    @property
    def label(self) -> str:
        """What a person calls it: its name, else its serial number or its port, else its kind."""
        return self.name or self.serial or self.port or self.board


def add_uses(connection: sqlite3.Connection, run_id: int | None, uses: Iterable[BoardUse]) -> None:
    """Add the boards of a run."""
    connection.executemany(
        "INSERT INTO board_uses (run_id, board, name, serial, port, flashes, breaks, retries,"
        " retransmissions, clock_ppm) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(run_id, *use.key[:3], use.port or "", *_counts(use), use.clock_ppm) for use in uses],
    )


def _counts(use: BoardUse) -> tuple[int, ...]:
    return use.flashes, use.breaks, use.retries, use.retransmissions


def read_health(connection: sqlite3.Connection, path: Path) -> list[BoardHealth]:
    """Each board over all runs, those that broke most at the top. Raises HistoryError.

    ``path`` is the file, for errors.
    """
    by_board: dict[tuple[str, ...], list[_Line]] = {}
    for row in connection.execute(
        "SELECT run_id, started, host, board, name, serial, port, flashes, breaks, retries,"
        " retransmissions, clock_ppm FROM board_uses JOIN runs ON runs.id = run_id ORDER BY run_id"
    ):
        line = _checked(row, path)
        by_board.setdefault(line.key, []).append(line)
    found = [_health(lines) for lines in by_board.values()]
    return sorted(found, key=lambda each: (-each.breaks, -each.retransmissions, each.label))


@dataclass(frozen=True)
class _Line:
    run: int
    started: str
    host: str
    use: BoardUse

    @property
    def key(self) -> tuple[str, ...]:
        """A port, and what has nothing of its own, is another one on another PC."""
        _, name, serial, port = self.use.key
        if name or serial:
            return "known", name, serial
        return "port", self.host, port or self.use.board


def _checked(row: Sequence[Any], path: Path) -> _Line:
    """A row of the file as what it has to be: SQLite keeps any type in any column."""
    run, texts, counts, clock = row[0], row[1:7], row[7:11], row[11]
    known = clock is None or (type(clock) in (int, float) and math.isfinite(clock))
    whole = all(type(count) is int and 0 <= count < 1 << 53 for count in counts)
    if not (known and whole and all(isinstance(t, str) and t.isprintable() for t in texts)):
        began = f"{str(row[1])!r:.40}"
        raise HistoryError(
            f"history {path}: a board of the run of {began} has values that none can have",
            hint="restore it from a copy, or give another file: a new one is made",
        )
    started, host, board, name, serial, port = texts
    ppm = None if clock is None else float(clock)
    flashes, breaks, retries, again = counts
    told = (name or None, serial or None, port or None)
    use = BoardUse(board, *told, flashes, breaks, retries, again, ppm)
    return _Line(run, started, host, use)


def _health(lines: Sequence[_Line]) -> BoardHealth:
    last = lines[-1]
    by_name = bool(last.use.name or last.use.serial)
    clocks = [ppm for line in lines if (ppm := line.use.clock_ppm) is not None]
    broken = [line.started for line in lines if line.use.breaks]
    return BoardHealth(
        board=last.use.board,
        name=last.use.name or "",
        serial=last.use.serial or "",
        port=last.use.port or "",
        host="" if by_name else last.host,
        runs=len({line.run for line in lines}),
        last=last.started,
        broke_in=len({line.run for line in lines if line.use.breaks}),
        broke_last=broken[-1] if broken else "",
        clock_ppm=_median(clocks[-_CLOCK_RUNS:]),
        clock_drift_ppm=_drift(clocks),
        flashes=_sum(lines, "flashes"),
        breaks=_sum(lines, "breaks"),
        retries=_sum(lines, "retries"),
        retransmissions=_sum(lines, "retransmissions"),
    )


def _sum(lines: Sequence[_Line], name: str) -> int:
    return sum(getattr(line.use, name) for line in lines)


def _drift(clocks: Sequence[float]) -> float | None:
    if len(clocks) < 2:
        return None
    side = min(_CLOCK_RUNS, len(clocks) // 2)
    return statistics.median(clocks[-side:]) - statistics.median(clocks[:side])


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
