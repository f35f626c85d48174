"""The CSVs of Vela as tables: titles and rows, whatever the version and its quoting."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.numbers import finite


class TableError(ValueError):
    """A CSV of Vela cannot be read; the text names the line, or the column and the header."""


@dataclass(frozen=True)
class Row:
    """One row: its line number in the file (from 1) and its cells by title."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """Titles, of which no two are equal, and rows."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]

    def require(self, titles: Sequence[str]) -> None:
        """Raise TableError when a column is missing."""
        for title in titles:
            if title not in self.titles:
                raise TableError(
                    f"there is no column {title!r}; the header found is: {','.join(self.titles)}"
                )


def read_table(text: str, *, quoted: bool) -> Table:
    """The table in the text of a CSV; an empty text is a table without columns.

    A title that comes again is numbered: ``X``, ``X (1)``, ``X (2)``. Rows that repeat the header,
    which older versions write for every part of the model, and blank lines are left out. When a
    name in the last column has commas, its surplus cells are joined again. ``quoted``: names may
    stand in quotes; Vela 5 writes none, so a quote there is part of the name. Raises TableError.
    """
    lines = _split(text.removeprefix("\ufeff"), quoted=quoted)
    header: list[str] | None = None
    titles: tuple[str, ...] = ()
    rows = []
    for number, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header, titles = cells, numbered(cells)
        elif cells != header:
            rows.append(Row(number, _by_title(titles, cells, number)))
    return Table(titles, tuple(rows))


def numbered(titles: Sequence[str]) -> tuple[str, ...]:
    """Titles made different: the first of its kind stays, later ones get `` (1)``, `` (2)``."""
    seen: Counter[str] = Counter()
    different = []
    for title in titles:
        different.append(f"{title} ({seen[title]})" if seen[title] else title)
        seen[title] += 1
    return tuple(different)


def number(row: Row, title: str) -> float | None:
    """The number in a cell, whole ones as int; None for what is not available (NaN, inf, empty).

    Raises TableError for a text that is no number.
    """
    text = row.cells[title].strip()
    try:
        value = finite(float(text)) if text else None
    except ValueError:
        raise TableError(f"line {row.line}: {title} is {text!r}, not a number") from None
    return int(value) if value is not None and value.is_integer() else value


def _split(text: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    if not quoted:
        yield from ((at, line.split(",")) for at, line in enumerate(_lines(text), start=1))
        return
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise TableError(f"line {reader.line_num}: {error}") from None


def _lines(text: str) -> list[str]:
    """Lines as files have them; str.splitlines also breaks at characters that names may hold."""
    return text.replace("\r\n", "\n").split("\n")


def _by_title(titles: Sequence[str], cells: Sequence[str], line: int) -> Mapping[str, str]:
    if len(cells) < len(titles):
        raise TableError(f"line {line} has {len(cells)} of {len(titles)} columns")
    last = len(titles) - 1
    # Vela 5 quotes nothing: commas in the name of a tensor, the last column, make more cells.
    return dict(zip(titles, [*cells[:last], ",".join(cells[last:])], strict=True))
