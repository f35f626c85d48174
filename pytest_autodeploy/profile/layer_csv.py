"""The per-layer CSV: the columns of Ambiq's application note, then the source."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from pytest_autodeploy.profile.records import Layer, LayerProfile

Cell = str | int

COLUMNS = ("Event", "Tag", "uSeconds", "Est MACs", "cycles")
COUNTERS = (
    *("cpi", "exc", "sleep", "lsu", "fold"),
    *("daccess", "dtaglookup", "dhitslookup", "dhitsline"),
    *("iaccess", "itaglookup", "ihitslookup", "ihitsline"),
)
"""Of a Cortex-M4, in the order of the application note; each has its place on every board."""

_SUFFIX = " mod 256"
"""How boards name the 8-bit ones, which wrap within a layer."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(profile: LayerProfile, recorded: str | None = None) -> str:
    r"""Render a profile as CSV after RFC 4180, with ``\n`` line ends.

    Columns: ``Event, Tag, uSeconds, Est MACs, cycles``, the thirteen counters of a Cortex-M4 with
    empty cells where a board does not count them, further counters that it has, ``Run``, which
    inference the row is of, and ``Source``, that of times, cycles and counters. Unknown values are
    empty cells. A name that a spreadsheet would run as a formula (it starts with ``= + - @`` or
    white space) gets an apostrophe in front.
    What was ``recorded`` says so behind its source.
    """
    return _text(*csv_table(profile, recorded))


def csv_table(
    profile: LayerProfile, recorded: str | None = None
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Header and rows of the CSV."""
    source = f"{profile.source} ({recorded})" if recorded else profile.source
    names = _by_place(profile.counter_names)
    order = [profile.counter_names.index(name) if name else None for _, name in names]
    rows: list[tuple[Cell, ...]] = [
        (
            *_first(layer, layer.us, layer.cycles),
            *(_counter(layer.counters, number) for number in order),
            profile.text,
            source,
        )
        for layer in profile.layers
    ]
    return _header([title for title, _ in names]), rows


def _header(counters: Iterable[str]) -> tuple[str, ...]:
    return (*COLUMNS, *map(harmless, counters), "Run", "Source")


def _by_place(names: Sequence[str]) -> list[tuple[str, str]]:
    """The title of each counter's column, and what the board calls it, "" when it has none."""
    known = {name.removesuffix(_SUFFIX): name for name in names}
    fixed = [(known.get(title, title), known.get(title, "")) for title in COUNTERS]
    others = [(name, name) for name in names if name.removesuffix(_SUFFIX) not in COUNTERS]
    return [*fixed, *others]


def _counter(counters: Sequence[int], number: int | None) -> int | str:
    return "" if number is None or number >= len(counters) else counters[number]


def _text(header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue()


def _first(layer: Layer, us: float | None, cycles: int | None) -> tuple[Cell, ...]:
    name = harmless(layer.tag)
    return layer.index, name, _plain_number(us), _or_empty(layer.macs), _or_empty(cycles)


def harmless(name: str) -> str:
    """A text that no spreadsheet runs as a formula."""
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _plain_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _or_empty(value: int | None) -> int | str:
    return "" if value is None else value
