"""The table of a run as lines of text, in the room that there is.

Where boards and sources do not fit beside the figures, each board is a heading above its models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_autodeploy.base.measurement import UNPROVEN
from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.report.run_table import Cell, RunRow

TAGS = {
    "measured": "mea",
    "emulated": "emu",
    "modelled": "mod",
    "estimated": "est",
    "exact": "exa",
    UNPROVEN: "sto",
}
"""Behind a figure whose source is not that of its row."""

_LEAST_NAME = 12
_NOTHING = "-"


def run_lines(rows: Sequence[RunRow], width: int) -> list[str]:
    """Headings, a line per row, and a line that says what the tags mean, if there are any."""
    boards = [Column("Board", [row.board for row in rows])]
    sources = [Column("Source", [row.source or _NOTHING for row in rows])]
    figures = _figures(rows)
    flat = _lines(rows, [*boards, *figures, *sources], width, shrink=False)
    if flat and max(map(len, flat)) <= width:
        return [*flat, *_legend(rows)]
    return [*_by_board(rows, figures, width), *_legend(rows)]


def board_heading(row: RunRow) -> str:
    """Board, kind and source of the figures below."""
    kind = f" ({row.kind})" if row.kind else ""
    return f"{row.board}{kind}: {row.source}" if row.source else f"{row.board}{kind}"


def _by_board(rows: Sequence[RunRow], figures: Sequence[Column], width: int) -> Iterator[str]:
    lines = _lines(rows, figures, width, shrink=True)
    yield lines[0]
    groups: dict[str, list[str]] = {}
    for row, line in zip(rows, lines[1:], strict=True):
        groups.setdefault(board_heading(row), []).append(line)
    for heading, members in groups.items():
        yield heading
        yield from members


def _lines(
    rows: Sequence[RunRow], columns: Iterable[Column], width: int, *, shrink: bool
) -> list[str]:
    """The table with names of models before ``columns``, shortened to fit when they ``shrink``."""
    behind = [*columns, Column("Verdict", [row.standing.text for row in rows])]
    rest = len(max(table([Column("", [""] * len(rows)), *behind]), key=len))
    room = max(_LEAST_NAME, width - rest) if shrink else max(len(row.model) for row in rows)
    return table([Column("Model", [_shorten(row.model, room) for row in rows]), *behind])


def _figures(rows: Sequence[RunRow]) -> list[Column]:
    """The columns that have an entry in any row."""
    cells = {
        "Latency": [_tag(row, row.latency) for row in rows],
        "Energy": [_tag(row, row.energy) for row in rows],
        "Arena": [_tag(row, row.arena) for row in rows],
        "Agreement": [_tag(row, row.agreement) for row in rows],
        "Accuracy": [_tag(row, row.accuracy) for row in rows],
        "Change": [row.change for row in rows],
    }
    return [
        Column(heading, [text or _NOTHING for text in texts], right=True)
        for heading, texts in cells.items()
        if any(texts)
    ]


def _tag(row: RunRow, cell: Cell) -> str:
    other = cell.source and cell.source != row.source
    return f"{cell.text} {TAGS[cell.source]}" if other else cell.text


def _legend(rows: Sequence[RunRow]) -> list[str]:
    used = {
        cell.source
        for row in rows
        for cell in (row.latency, row.energy, row.arena, row.agreement, row.accuracy)
        if cell.source != row.source
    }
    tags = ", ".join(f"{tag} = {source}" for source, tag in TAGS.items() if source in used)
    return [f"Source of a figure where it is not the board's: {tags}"] if tags else []


def _shorten(name: str, room: int) -> str:
    """A name with its middle left out: its end is what often tells it from others."""
    if len(name) <= room:
        return name
    head = (room - 1) // 2
    return f"{name[:head]}…{name[head + 1 - room :]}"
