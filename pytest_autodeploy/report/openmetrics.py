"""Figures for Prometheus: a file as node_exporter's textfile collector reads it.

One gauge for each name and unit of a measurement, in base units: ``latency_median`` in us is
``autodeploy_latency_median_seconds``. The text is both Prometheus' format 0.0.4 and, as it ends
with ``# EOF``, OpenMetrics 1.0.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.files import write_bytes

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result

PREFIX = "autodeploy"

BASE_UNITS: Mapping[str, tuple[str, float]] = {
    "us": ("seconds", 1e-6),
    "uJ": ("joules", 1e-6),
    "mW": ("watts", 1e-3),
    "B": ("bytes", 1),
    "Hz": ("hertz", 1),
    "1": ("", 1),
    "1/s": ("per_second", 1),
}
"""Of our units: the name in Prometheus, and how many of those one is; others keep their names."""

Sample = tuple[str, float]
"""The labels as text, and the value."""


def write_openmetrics(path: Path, results: Sequence[Result], began: datetime) -> None:
    """Write the figures of a run in one step, as a collector may read at any time.

    Raises ResultsError.
    """
    write_bytes(path, openmetrics_text(results, began).encode())


def openmetrics_text(results: Sequence[Result], began: datetime) -> str:
    """All finite measurements, how limits and tests ended, and when the run began.

    Labels are ``model``, ``board``, ``serial`` (of the probe, else the board's name in the rig),
    ``clock`` and ``source``; values that are not there are left out, never 0.
    """
    families: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for result in results:
        for name, unit, sample in _samples(result):
            families[name, unit].append(sample)
    families[f"{PREFIX}_run_start_time_seconds", "seconds"].append(("", began.timestamp()))
    lines = (_family(name, unit, samples) for (name, unit), samples in families.items())
    return "\n".join([*chain.from_iterable(lines), "# EOF"]) + "\n"


def _samples(result: Result) -> Iterator[tuple[str, str, Sample]]:
    latest = {(each.name, each.source): each for each in result.measurements}
    for each in latest.values():
        unit, factor = BASE_UNITS.get(each.unit, (_in_a_name(each.unit), 1))
        if math.isfinite(each.value):
            name = "_".join(filter(None, (PREFIX, _in_a_name(each.name), unit)))
            yield name, unit, (_labels(result, source=each.source), each.value * factor)
    for status, count in Counter(row.status for row in result.verdicts).items():
        yield f"{PREFIX}_limits", "", (_labels(result, status=status), count)
    for outcome, count in Counter(test.outcome for test in result.tests).items():
        yield f"{PREFIX}_tests", "", (_labels(result, outcome=outcome), count)


def _labels(result: Result, **more: str) -> str:
    board = result.board
    labels = {
        "model": result.model.id,
        "board": board.id or "",
        "serial": board.one or "",
        "clock": board.clock or "",
        **more,
    }
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _in_a_name(text: str) -> str:
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _family(name: str, unit: str, samples: Sequence[Sample]) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    for labels, value in samples:
        yield f"{name}{labels} {value!r}"
