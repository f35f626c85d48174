"""The log of results: a CSV with a row for each model and board of each run, as AutoDeploy's."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.file_lock import locked_file
from pytest_autodeploy.profile.layer_csv import harmless

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.facts import BoardFacts
    from pytest_autodeploy.metrics.result import Result

LOCK_S = 30.0
"""How long other runs may write."""

Cell = str | int | float

_VALUES = {
    "Arena bytes": "arena_tuned",
    "MACs": "macs",
    "Layers": "layers",
    "First inference us": "latency_first",
    "Median latency us": "latency_median",
    "Profile us": "profile_time",
    "Profile cycles": "profile_cycles",
    "HP us": "power_time_hp",
    "HP uJ": "energy_hp",
    "HP mW": "power_hp",
    "LP us": "power_time_lp",
    "LP uJ": "energy_lp",
    "LP mW": "power_lp",
}
"""The measurement of each column."""

COLUMNS = (
    *("Date", "Run ID", "Model", "Model SHA-256", "Model bytes", "Board", "Kind", "Source"),
    *("Clock", "Engine", "Engine version", "Model location", "Arena location"),
    *_VALUES,
    *("Profile run", "Flash bytes", "RAM bytes", "Passed"),
)


def append_rows(
    path: Path, results: Sequence[Result], began: datetime, run_id: str | None = None
) -> None:
    """Add a row for each result; a file that is not there is made, with a header.

    Several runs may write at once. Raises ResultsError for a file with another header, and for one
    that cannot be written; LockHeld.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked_file(path.with_name(f"{path.name}.lock"), LOCK_S):
            check_header(path)
            fresh = not path.exists() or not path.stat().st_size
            rows = [_row(result, began, run_id) for result in results]
            with path.open("a", encoding="utf-8", newline="") as file:
                file.write(_text([COLUMNS, *rows] if fresh else rows))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from None


def check_header(path: Path) -> None:
    """Raise ResultsError for a file that is no log of this version."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            first = file.readline()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"cannot read {path}: {error}") from None
    if first and first != _text([COLUMNS]):
        raise ResultsError(
            f"{path} is no result log of this version: its header is {first.strip()[:80]!r}",
            hint="give --autodeploy-result-log another file: a new one is made",
        )


def _row(result: Result, began: datetime, run_id: str | None) -> list[Cell]:
    model, board = result.model, result.board
    values = {each.name: each.value for each in result.measurements}
    programs = result.artifacts.footprints if result.artifacts else ()
    program = next((each for each in reversed(programs) if each.of == "example"), None)
    facts: list[Cell | None] = [
        *(began.isoformat(timespec="seconds"), run_id, model.name, model.sha256),
        *(model.size_bytes, board.id, board.kind, source_text(board), board.clock),
        *(board.engine, board.engine_version, board.model_memory, board.arena_memory),
        *(values.get(name) for name in _VALUES.values()),
        *(result.profile.text if result.profile else None,),
        *((program.flash_bytes, program.ram_bytes) if program else (None, None)),
        int(all(test.outcome in ("passed", "skipped") for test in result.tests)),
    ]
    return [_cell(fact) for fact in facts]


def source_text(board: BoardFacts) -> str | None:
    """The source of a board's figures, and whether they come from a recording."""
    if board.source and board.recorded:
        return f"{board.source} ({board.recorded})"
    return board.source


def _cell(value: Cell | None) -> Cell:
    if isinstance(value, str):
        return harmless(value)
    return "" if value is None else value


def _text(rows: Sequence[Sequence[Cell]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
