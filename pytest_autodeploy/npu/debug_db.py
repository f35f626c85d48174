"""Vela's debug database: which operator of the model each scheduled operation comes from.

The file looks like XML with CSV in it, but Vela escapes the names of tensors in neither: it is read
line by line and from both ends of a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TABLE = re.compile(
    r'^<table name="(\w+)">\s*<!\[CDATA\[\n(.*?)^\]\]>\s*^</table>', re.MULTILINE | re.DOTALL
)
_PERF_ROW = re.compile(r'^\d+,(\d*),\d*,"[^"\n]*","(?:.*?)",([\d.,]*)$', re.MULTILINE | re.DOTALL)
_PERF_FIGURES = ("staging_usage", "op_cycles", "npu_cycles", "mac_count")


@dataclass(frozen=True)
class Origin:
    """One scheduled operation: its id in the table of sources, and figures to recognise it by."""

    source_id: int | None
    cycles: float
    macs: float


def debug_tables(text: str) -> dict[str, str]:
    """The tables of the database, each as its CSV text."""
    return {found[1]: found[2] for found in _TABLE.finditer(text)}


def origins(perf: str) -> list[Origin]:
    """The rows of the table ``perf``, which are those of the per-layer CSV."""
    header = perf.partition("\n")[0].replace('"', "").split(",")
    if tuple(header[5:9]) != _PERF_FIGURES:
        return []
    rows = []
    for found in _PERF_ROW.finditer(perf):
        figures = found[2].split(",")
        if len(figures) == len(header) - 5:
            source = int(found[1]) if found[1] else None
            rows.append(Origin(source, float(figures[1] or 0), float(figures[3] or 0)))
    return rows


def positions(source: str) -> Mapping[int, int]:
    """By source id: the position of the operator in the model, which counts in each subgraph."""
    header, *rows = source.strip().splitlines() or [""]
    names = header.replace('"', "").split(",")
    if names[0] != "id" or names[-1] != "ext_key":
        return {}
    cells = (row.split(",") for row in rows)
    return {int(row[0]): int(row[-1]) for row in cells if row[0].isdigit() and row[-1].isdigit()}
