"""The bench as a table and as JSON, and its comparison with a kept one."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.baseline.judgement import judge, single
from pytest_autodeploy.metrics.comparison import Row
from tests.benchmarks.speed.figures import Figure, of_values

SCHEMA = 1

PERCENT = {"ratio": 5.0, "cpu": 10.0, "wall": 10.0, "size": 10.0}
"""What a figure may be worse by; figures of one machine at two times differ more than ratios."""

FLOORS = {"ms": 3.0, "s": 0.5, "times": 0.05}


def lines(figures: Sequence[Figure]) -> list[str]:
    """The table."""
    return table(
        [
            Column("figure", [figure.name for figure in figures]),
            Column("median", [_number(figure) for figure in figures], right=True),
            Column("", [figure.unit for figure in figures]),
            Column("+-", [_noise(figure) for figure in figures], right=True),
            Column("n", [str(len(figure.values)) for figure in figures], right=True),
            Column("bound", [_bound(figure) for figure in figures], right=True),
            Column("load", [f"{figure.load:.1f}" for figure in figures], right=True),
            Column("others", [f"{100 * f.others:.0f} %" for f in figures], right=True),
            Column("verdict", [figure.verdict for figure in figures]),
            Column("", [figure.why for figure in figures]),
        ]
    )


def write(figures: Sequence[Figure], path: Path) -> None:
    """The figures with all their values, and the machine."""
    document = {
        "schema": SCHEMA,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "figures": [{**asdict(figure), "verdict": figure.verdict} for figure in figures],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What figures depend on besides the code."""
    return {
        "system": platform.system(),
        "cores": os.cpu_count(),
        "cpu": _cpu(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("pytest", "numpy", "tflite-micro")},
    }


def read(path: Path) -> tuple[dict[str, Any], list[Figure]]:
    """A kept bench. Exits with a message when the file is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            sys.exit(f"{path} has schema {document['schema']}, this bench reads {SCHEMA}")
        figures = []
        for fields in document["figures"]:
            fields.pop("verdict")
            figures.append(Figure(**{**fields, "values": tuple(fields["values"])}))
        return document["machine"], figures
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path} is no JSON of make bench: {type(error).__name__}: {error}")


def compare(kept: Sequence[Figure], now: Sequence[Figure]) -> list[Row]:
    """Every figure of both, as the gate of ``no_regression`` judges a value and its baseline."""
    before = {figure.name: figure for figure in of_values(kept)}
    return [_judged(before[f.name], f) for f in of_values(now) if f.name in before]


def _judged(before: Figure, now: Figure) -> Row:
    sides = before.repeats, now.repeats
    row = Row(now.name, now.unit, "measured", sides[0].centre, sides[1].centre)
    floor = FLOORS.get(now.unit, 0.0)
    return single(judge(row, now.better, PERCENT[now.kind], floor, sides), sides)


def compared_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The comparison as a table."""
    yield from table(
        [
            Column("figure", [row.name for row in rows]),
            Column("kept", [f"{row.baseline:.4g}" for row in rows], right=True),
            Column("now", [f"{row.now:.4g} {row.unit}" for row in rows], right=True),
            Column("worse by", [f"{row.worse:+.3g}" for row in rows], right=True),
            Column("allowed", [f"{row.allowed:.3g} ({row.by})" for row in rows], right=True),
            Column("", [row.state for row in rows]),
            Column("", [row.note for row in rows]),
        ]
    )


def _number(figure: Figure) -> str:
    return f"{figure.median:.4g}" if figure.values else ""


def _noise(figure: Figure) -> str:
    noise = figure.noise if figure.values else None
    return "" if noise is None else f"{noise:.2g}"


def _bound(figure: Figure) -> str:
    if figure.bound is None:
        return ""
    return f"{'<=' if figure.better == 'lower' else '>='} {figure.bound:g}"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return named[0].strip() if named else platform.machine()
