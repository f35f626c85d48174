"""Layers and figures of a result as an .xlsx file, for spreadsheets (extra 'xlsx')."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import MissingExtra, ResultsError
from pytest_autodeploy.profile.layer_csv import csv_table, harmless

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result

Rows = Iterable[Iterable[object]]


def check_xlsx() -> None:
    """Raise MissingExtra when the package that writes .xlsx files is not installed."""
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise MissingExtra("writing .xlsx files", "xlsx")


def write_xlsx(result: Result, output: Path) -> None:
    """Write the file beside the JSON of the result. Raises MissingExtra, ResultsError."""
    check_xlsx()
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError

    path = (output / result.files.json).with_name(f"{_stem(result)}.xlsx")
    book = Workbook(write_only=True)
    try:
        for title, rows in _sheets(result):
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        book.save(path)
    except (OSError, IllegalCharacterError) as error:
        raise ResultsError(f"cannot write {path}: {error}") from None


def _stem(result: Result) -> str:
    return Path(result.files.csv).stem if result.files.csv else "result"


def _sheets(result: Result) -> Iterator[tuple[str, Rows]]:
    for profile in filter(None, (result.profile, result.first_profile)):
        header, rows = csv_table(profile, result.board.recorded)
        numbers = ([_number(cell) for cell in row] for row in rows)
        yield f"Layers, {profile.run}", [header, *numbers]
    titles = ("Figure", "Value", "Unit", "Source", "Note")
    figures = ((m.name, m.value, m.unit, m.source, harmless(m.note)) for m in result.measurements)
    yield "Figures", [titles, *figures]


def _number(cell: str | int) -> str | int | float | None:
    """Microseconds are text in the CSV, with three decimals; a number here, and empty ones None."""
    if not isinstance(cell, str):
        return cell
    try:
        return float(cell)
    except ValueError:
        return cell or None
