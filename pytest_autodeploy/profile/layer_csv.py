"""The per-layer CSV: the columns of Ambiq's application note, then the source."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Protocol

from pytest_autodeploy.profile.records import LayerProfile

Cell = str | int

COLUMNS = ("Event", "Tag", "uSeconds", "Est MACs", "cycles")

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class Static(Protocol):
    """A layer that has not run."""

    @property
    def index(self) -> int: ...
    @property
    def tag(self) -> str: ...
    @property
    def macs(self) -> int | None: ...


def csv_text(profile: LayerProfile) -> str:
    r"""Render a profile as CSV after RFC 4180, with ``\n`` line ends.

    Columns: ``Event, Tag, uSeconds, Est MACs, cycles``, one per counter that the board has, and
    ``Source``, the source of times, cycles and counters. Unknown values are empty cells. A name
    that a spreadsheet would run as a formula (it starts with ``= + - @`` or white space) gets an
    apostrophe in front.
    """
    width = len(profile.counter_names)
    rows = (
        (*_first(layer, layer.us, layer.cycles), *_padded(layer.counters, width), profile.source)
        for layer in profile.layers
    )
    return _text((*COLUMNS, *map(_harmless, profile.counter_names), "Source"), rows)


def static_csv_text(layers: Iterable[Static]) -> str:
    """As ``csv_text``, of layers that have not run: the cells of times and cycles are empty."""
    rows = ((*_first(layer, None, None), "estimated") for layer in layers)
    return _text((*COLUMNS, "Source"), rows)


def _text(header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue()


def _first(layer: Static, us: float | None, cycles: int | None) -> tuple[Cell, ...]:
    name = _harmless(layer.tag)
    return layer.index, name, _plain_number(us), _or_empty(layer.macs), _or_empty(cycles)


def _harmless(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _plain_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _or_empty(value: int | None) -> int | str:
    return "" if value is None else value


def _padded(counters: Sequence[int], width: int) -> list[int | str]:
    return [*counters[:width], *[""] * (width - len(counters))]
