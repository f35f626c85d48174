"""A trace as a picture: ``python -m docs.samples.trace_picture TRACE SVG``.

One band for each process, one row for each thread and each depth of its spans, time to the right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LEFT, ROW, GAP, AXIS = 1000, 8, 15, 22, 24
LETTER = 5.6
"""Pixels of a letter, to see which names fit."""

COLOURS = ("#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fcbba1", "#d9d9d9", "#c6dbef", "#e5c494")
SHORTEST_MS = 0.4
"""What is shorter would be no pixel."""


@dataclass
class Band:
    """A process: its name, and its rows of spans."""

    name: str
    rows: list[list[dict[str, Any]]]


def picture(document: dict[str, Any]) -> str:
    """The SVG of a trace."""
    events = document["traceEvents"]
    spans = [each for each in events if each["ph"] == "X" and each["dur"] >= 1e3 * SHORTEST_MS]
    end = max(each["ts"] + each["dur"] for each in spans)
    scale = (WIDTH - 2 * LEFT) / end
    parts: list[str] = []
    top = AXIS
    for band in _bands(events, spans):
        parts.append(_text(LEFT, top + 14, band.name, bold=True))
        top += GAP
        for row in band.rows:
            parts += (_bar(each, top, scale) for each in row)
            top += ROW
        top += 6
    axis = [*_axis(end, scale, top)]
    style = "text{font:10px sans-serif;fill:#222}.b{font-weight:bold;font-size:12px}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
        f'width="{WIDTH}" height="{top}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join([*axis, *parts])}</svg>\n'
    )


def _bands(events: Sequence[dict[str, Any]], spans: Sequence[dict[str, Any]]) -> Iterator[Band]:
    """The processes that do something, in the order of their starts."""
    names = {each["pid"]: each["args"]["name"] for each in events if each["ph"] == "M"}
    first = {pid: min((s["ts"] for s in spans if s["pid"] == pid), default=None) for pid in names}
    for pid in sorted(
        (pid for pid in names if first[pid] is not None), key=lambda p: first[p] or 0
    ):
        rows: list[list[dict[str, Any]]] = []
        own = [each for each in spans if each["pid"] == pid]
        for thread in dict.fromkeys(each["tid"] for each in sorted(own, key=lambda s: s["ts"])):
            rows += _stacked([each for each in own if each["tid"] == thread])
        yield Band(names[pid], rows)


def _stacked(spans: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Each span in the first row where nothing is in its way: what it is within is above it."""
    rows: list[list[dict[str, Any]]] = []
    for span in sorted(spans, key=lambda each: (each["ts"], -each["dur"])):
        for row in rows:
            if row[-1]["ts"] + row[-1]["dur"] <= span["ts"]:
                row.append(span)
                break
        else:
            rows.append([span])
    return rows


def _bar(span: dict[str, Any], top: int, scale: float) -> str:
    left, width = LEFT + span["ts"] * scale, max(0.5, span["dur"] * scale)
    colour = COLOURS[sum(span["name"].encode()) % len(COLOURS)]
    title = escape(f"{span['name']}: {span['dur'] / 1e3:.1f} ms")
    bar = (
        f'<g><title>{title}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" '
        f'height="{ROW - 2}" fill="{colour}"/>'
    )
    most = int((width - 4) / LETTER)
    name = span["name"].partition("[")[0]
    text = name if len(name) <= most else f"{name[: most - 1]}…" if most > 3 else ""
    return bar + (_text(left + 2, top + 10, text) if text else "") + "</g>"


def _axis(end: float, scale: float, bottom: int) -> Iterator[str]:
    steps = (50, 100, 200, 500, 1000, 5000)
    step = next((each for each in steps if end / 1e3 / each <= 15), int(end / 10e3))
    for ms in range(0, int(end / 1e3) + 1, step):
        at = LEFT + ms * 1e3 * scale
        yield f'<path d="M{at:.1f} 14V{bottom}" stroke="#ddd"/>{_text(at, 10, f"{ms} ms")}'


def _text(left: float, top: float, text: str, *, bold: bool = False) -> str:
    kind = ' class="b"' if bold else ""
    return f'<text x="{left:.1f}" y="{top}"{kind}>{escape(text)}</text>'


if __name__ == "__main__":
    read, written = map(Path, sys.argv[1:])
    written.write_text(picture(json.loads(read.read_text(encoding="utf-8"))), encoding="utf-8")
