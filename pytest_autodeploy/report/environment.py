"""What a run was made of, for the table of the environment in the HTML report."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.report.provenance import provenance

MOST = 40


def environment(results: Sequence[Result]) -> dict[str, dict[str, str]]:
    """SHA-256 of models, serial numbers of boards with their engines, versions of tools."""
    models = {one_line(r.model.id): r.model.sha256 for r in results if r.model.sha256}
    boards = {one_line(r.board.id): text for r in results if r.board.id and (text := _board(r))}
    tools = {name: version for name, version in provenance().versions.items() if version}
    parts = {"Models (SHA-256)": models, "Boards": boards, "Tools": tools}
    return {name: _shorten(part) for name, part in parts.items() if part}


def _shorten(part: dict[str, str]) -> dict[str, str]:
    if len(part) <= MOST:
        return part
    kept = dict(list(part.items())[:MOST])
    return {**kept, "and": f"{len(part) - MOST} more, see the result files"}


def _board(result: Result) -> str:
    board, serial = result.board, result.board.serial
    engine = f"{board.engine or ''} {board.engine_version or ''}".strip()
    serial_text = f"serial {serial}" if serial else ""
    parts = (serial_text, board.kind or "", engine, board.recorded or "")
    return one_line(", ".join(part for part in parts if part))
