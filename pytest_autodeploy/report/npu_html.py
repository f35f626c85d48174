"""Estimates for pytest-html: fragments of HTML, in which everything from a model is escaped.

They use the style of the board reports, which stands once in the summary of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits, percent, si
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.npu.results import (
    Coverage,
    Estimate,
    OperatorEstimate,
    Totals,
    Unavailable,
    Value,
)
from pytest_autodeploy.report.npu_sweep import Swept, estimates, sweep_columns, sweep_tables

_MOST_OPERATORS = 40
_FIGURES: Sequence[tuple[str, Callable[[Totals], Value], str]] = (
    ("Total cycles", lambda totals: totals.total_cycles, "1"),
    ("Time", lambda totals: totals.time_us, "us"),
    ("Inferences per second", lambda totals: totals.inferences_per_second, "1/s"),
    ("NPU cycles", lambda totals: totals.npu_cycles, "1"),
    ("SRAM access cycles", lambda totals: totals.sram_cycles, "1"),
    ("DRAM access cycles", lambda totals: totals.dram_cycles, "1"),
    ("On-chip flash access cycles", lambda totals: totals.on_chip_flash_cycles, "1"),
    ("Off-chip flash access cycles", lambda totals: totals.off_chip_flash_cycles, "1"),
    ("MACs on the NPU", lambda totals: totals.macs, "1"),
    ("SRAM used", lambda totals: totals.sram_bytes, "B"),
    ("DRAM used", lambda totals: totals.dram_bytes, "B"),
    ("On-chip flash used", lambda totals: totals.on_chip_flash_bytes, "B"),
    ("Off-chip flash used", lambda totals: totals.off_chip_flash_bytes, "B"),
)


def sweep_html(swept: Iterable[Swept]) -> str:
    """The table of accelerators of each model; empty without estimates."""
    tables = [(one_line(model), sweep_columns(rows)) for model, rows in sweep_tables(swept).items()]
    return render_html("npu/sweep", tables=tables) if tables else ""


def estimates_html(results: Sequence[Result]) -> str:
    """The table of accelerators of each model of a run that was estimated."""
    return sweep_html(estimates(results))


def estimate_html(estimate: Estimate, *, csv: str = "", csv_name: str = "layers.csv") -> str:
    """The details of one estimate.

    ``csv`` is the text of its per-layer CSV; the link to it carries the whole file.
    """
    return render_html(
        "npu/estimate",
        title=f"{one_line(estimate.model)} on {estimate.accelerator}",
        scope=estimate.scope,
        made_by=_made_by(estimate),
        figures=_figures(estimate),
        operators=_operators(estimate.operators),
        on_cpu=_on_cpu(estimate.operators),
        remarks=[one_line(text) for text in (*estimate.degraded, *estimate.warnings)],
        csv=f"data:text/csv;charset=utf-8,{quote(csv, safe=',')}" if csv else "",
        csv_name=csv_name,
    )


def _made_by(estimate: Estimate) -> str:
    origin = estimate.provenance
    return (
        f"{estimate.system_config}, {estimate.memory_mode} of {one_line(origin.config)},"
        f" Vela {origin.vela_version} ({origin.core}), SHA-256 {origin.model_sha256}"
    )


def _figures(estimate: Estimate) -> list[Figure]:
    coverage = estimate.coverage
    text = f"{percent(coverage.share, 1)}, {coverage}"
    shown = [Figure("On the NPU", text, "estimated", _removed(coverage))]
    missing = []
    for label, total, unit in _FIGURES:
        value = total(estimate.totals)
        if isinstance(value, Unavailable):
            missing.append(Figure(label, "unavailable", "", value.reason))
        else:
            shown.append(Figure(label, _value(value, unit), "estimated", estimate.scope))
    return [*shown, *missing]


def _removed(coverage: Coverage) -> str:
    return f"Vela removed or merged {coverage.removed} more" if coverage.removed else ""


def _value(value: float, unit: str) -> str:
    return group_digits(value) if unit == "1" else si(value, unit)


def _operators(operators: Sequence[OperatorEstimate]) -> list[Column]:
    on_npu = [each for each in operators if each.placement == "npu"]
    whole = sum(each.cycles or 0 for each in on_npu)
    rows = sorted(on_npu, key=lambda each: -(each.cycles or 0))[:_MOST_OPERATORS]
    if not rows:
        return []
    return [
        Column("#", [str(each.index) for each in rows], right=True),
        Column("Operator", [one_line(each.name) for each in rows]),
        Column("Cycles (estimated)", [group_digits(each.cycles) for each in rows], right=True),
        Column("Share", [percent(each.cycles or 0, whole) for each in rows], right=True),
        Column("MACs on the NPU", [group_digits(each.npu_macs) for each in rows], right=True),
        Column("Output", [one_line(each.output, 60) for each in rows]),
    ]


def _on_cpu(operators: Sequence[OperatorEstimate]) -> list[Column]:
    rows = [each for each in operators if each.placement == "cpu"][:_MOST_OPERATORS]
    if not rows:
        return []
    return [
        Column("#", [str(each.index) for each in rows], right=True),
        Column("Operator", [one_line(each.name) for each in rows]),
        Column("Output", [one_line(each.output, 60) for each in rows]),
        Column("Why it is on the CPU", [one_line(each.reason) for each in rows]),
    ]
