"""The per-layer CSV: the columns of Ambiq's application note, then the source."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

COLUMNS = ("Event", "Tag", "uSeconds", "Est MACs", "cycles")

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(profile: Mapping[str, Any]) -> str:
    r"""Render a profile (``LayerProfile.as_dict``) as CSV after RFC 4180, with ``\n`` line ends.

    Columns: ``Event, Tag, uSeconds, Est MACs, cycles``, one per counter that the board has, and
    ``Source``, the source of times, cycles and counters. Unknown values are empty cells, as are
    those of layers that have not run. A name
    that a spreadsheet would run as a formula (it starts with ``= + - @`` or white space) gets an
    apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    counters = [_harmless(str(name)) for name in profile["counters"]]
    writer.writerow([*COLUMNS, *counters, "Source"])
    for layer in profile["layers"]:
        writer.writerow(
            [
                layer["index"],
                _harmless(str(layer["tag"])),
                _plain_number(layer.get("us")),
                _or_empty(layer["macs"]),
                _or_empty(layer.get("cycles")),
                *_padded(layer.get("counters", []), len(counters)),
                profile["source"],
            ]
        )
    return text.getvalue()


def _harmless(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _plain_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _or_empty(value: int | None) -> int | str:
    return "" if value is None else value


def _padded(counters: list[int], width: int) -> list[int | str]:
    return [*counters[:width], *[""] * (width - len(counters))]
