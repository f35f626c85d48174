"""Estimates for pytest-html: fragments of HTML, in which everything from a model is escaped.

They use the style of the board reports, which stands once in the summary of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import grouped, percent, si
from pytest_autodeploy.report.npu_sweep import Plain, figure, sweep_columns, sweep_tables

_MOST_OPERATORS = 40
_FIGURES = (
    ("Total cycles", "total_cycles", "1"),
    ("Time", "time_us", "us"),
    ("Inferences per second", "inferences_per_second", "1/s"),
    ("NPU cycles", "npu_cycles", "1"),
    ("SRAM access cycles", "sram_cycles", "1"),
    ("DRAM access cycles", "dram_cycles", "1"),
    ("On-chip flash access cycles", "on_chip_flash_cycles", "1"),
    ("Off-chip flash access cycles", "off_chip_flash_cycles", "1"),
    ("MACs on the NPU", "macs", "1"),
    ("SRAM used", "sram_bytes", "B"),
    ("DRAM used", "dram_bytes", "B"),
    ("On-chip flash used", "on_chip_flash_bytes", "B"),
    ("Off-chip flash used", "off_chip_flash_bytes", "B"),
)


def sweep_html(estimates: Iterable[Plain]) -> str:
    """The table of accelerators of each model; empty without estimates."""
    tables = [
        (one_line(model), sweep_columns(rows)) for model, rows in sweep_tables(estimates).items()
    ]
    return render_html("npu/sweep", tables=tables) if tables else ""


def estimate_html(estimate: Plain, *, csv: str = "", csv_name: str = "layers.csv") -> str:
    """The details of one estimate (``Estimate.as_dict()``).

    ``csv`` is the text of its per-layer CSV; the link to it carries the whole file.
    """
    return render_html(
        "npu/estimate",
        title=f"{one_line(estimate['model'])} on {estimate['accelerator']}",
        scope=estimate["scope"],
        made_by=_made_by(estimate),
        figures=_figures(estimate),
        operators=_operators(estimate["operators"]),
        on_cpu=_on_cpu(estimate["operators"]),
        remarks=[one_line(words) for words in (*estimate["degraded"], *estimate["warnings"])],
        csv=f"data:text/csv;charset=utf-8,{quote(csv, safe=',')}" if csv else "",
        csv_name=csv_name,
    )


def _made_by(estimate: Plain) -> str:
    origin = estimate["provenance"]
    return (
        f"{estimate['system_config']}, {estimate['memory_mode']} of {one_line(origin['config'])},"
        f" Vela {origin['vela_version']} ({origin['core']}), SHA-256 {origin['model_sha256']}"
    )


def _figures(estimate: Plain) -> list[Figure]:
    totals = estimate["totals"]
    shown = [
        Figure(label, _value(value, unit), "estimated", estimate["scope"])
        for label, key, unit in _FIGURES
        if (value := figure(totals, key)) is not None
    ]
    coverage = estimate["coverage"]
    words = f"{percent(coverage['share'], 1)}, {coverage['words']}"
    shown.insert(0, Figure("On the NPU", words, "estimated", _removed(coverage)))
    shown += [
        Figure(label, "unavailable", "", totals[key]["reason"])
        for label, key, _ in _FIGURES
        if figure(totals, key) is None
    ]
    return shown


def _removed(coverage: Mapping[str, Any]) -> str:
    return f"Vela removed or merged {coverage['removed']} more" if coverage["removed"] else ""


def _value(value: float, unit: str) -> str:
    return grouped(value) if unit == "1" else si(value, unit)


def _operators(operators: Sequence[Mapping[str, Any]]) -> list[Column]:
    on_npu = [each for each in operators if each["placement"] == "npu"]
    whole = sum(each["cycles"] for each in on_npu)
    rows = sorted(on_npu, key=lambda each: -each["cycles"])[:_MOST_OPERATORS]
    if not rows:
        return []
    return [
        Column("#", [str(each["index"]) for each in rows], right=True),
        Column("Operator", [one_line(each["name"]) for each in rows]),
        Column("Cycles (estimated)", [grouped(each["cycles"]) for each in rows], right=True),
        Column("Share", [percent(each["cycles"], whole) for each in rows], right=True),
        Column("MACs on the NPU", [grouped(each["npu_macs"]) for each in rows], right=True),
        Column("Output", [one_line(each["output"], 60) for each in rows]),
    ]


def _on_cpu(operators: Sequence[Mapping[str, Any]]) -> list[Column]:
    rows = [each for each in operators if each["placement"] == "cpu"][:_MOST_OPERATORS]
    if not rows:
        return []
    return [
        Column("#", [str(each["index"]) for each in rows], right=True),
        Column("Operator", [one_line(each["name"]) for each in rows]),
        Column("Output", [one_line(each["output"], 60) for each in rows]),
        Column("Why it is on the CPU", [one_line(each["reason"]) for each in rows]),
    ]
