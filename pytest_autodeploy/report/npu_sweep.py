"""Accelerators side by side: one row each, the best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_autodeploy.base.table import Column, table_within
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits, percent, si
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.npu.results import Estimate, Unavailable, Value


@dataclass(frozen=True)
class FailedEstimate:
    """A model of which there is no estimate on an accelerator, and why."""

    model: str
    accelerator: str
    error: str


Swept = Estimate | FailedEstimate


def estimates(results: Sequence[Result]) -> list[Estimate]:
    """The NPU estimates, each under the unique id of its model."""
    return [replace(result.npu, model=result.model.id) for result in results if result.npu]


@dataclass(frozen=True)
class SweepRow:
    """One accelerator, in words; ``remark``: of what the figures are, or why there are none."""

    accelerator: str
    system: str
    coverage: str
    cycles: str
    time: str
    delta: str
    sram: str
    dram: str
    flash: str
    remark: str


def sweep_rows(estimates: Iterable[Swept]) -> list[SweepRow]:
    """One row per accelerator, best first: who runs more of the model, then who is faster.

    The difference to the best is given where as much of the model runs on the NPU.
    """
    ranked = sorted(estimates, key=_rank)
    best = ranked[0] if ranked else None
    return [_row(each, best) for each in ranked]


def sweep_tables(estimates: Iterable[Swept]) -> dict[str, list[SweepRow]]:
    """The rows of each model, by its name, in the order of the estimates."""
    by_model: dict[str, list[Swept]] = {}
    for each in estimates:
        by_model.setdefault(each.model, []).append(each)
    return {model: sweep_rows(group) for model, group in by_model.items()}


def sweep_columns(rows: Sequence[SweepRow]) -> list[Column]:
    """The table of a sweep; all figures are estimated."""
    return [
        Column("Accelerator", [row.accelerator for row in rows]),
        Column("On the NPU", [row.coverage for row in rows]),
        Column("Cycles (estimated)", [row.cycles for row in rows], right=True),
        Column("Time", [row.time for row in rows], right=True),
        Column("To best", [row.delta for row in rows], right=True),
        Column("SRAM", [row.sram for row in rows], right=True),
        Column("DRAM", [row.dram for row in rows], right=True),
        Column("Flash", [row.flash for row in rows], right=True),
        Column("System", [row.system for row in rows]),
        Column("Remark", [row.remark for row in rows]),
    ]


def sweep_lines(rows: Sequence[SweepRow], width: int) -> list[str]:
    """The table as lines of text for the terminal; columns without any entry are left out.

    What ``width`` has no room for is told below each row.
    """
    columns = [column for column in sweep_columns(rows) if any(column.cells)]
    return table_within(columns, width)


def figure(value: Value) -> float | None:
    """A total of an estimate; None when it is unavailable."""
    return None if isinstance(value, Unavailable) else value


def _rank(each: Swept) -> tuple[float, float, str]:
    if isinstance(each, FailedEstimate):
        return (1.0, 0.0, each.accelerator)
    return (-each.coverage.share, figure(each.totals.time_us) or 0.0, each.accelerator)


def _row(each: Swept, best: Swept | None) -> SweepRow:
    if isinstance(each, FailedEstimate):
        nothing = dict.fromkeys(
            ("coverage", "cycles", "time", "delta", "sram", "dram", "flash"), "-"
        )
        remark = one_line(each.error)
        return SweepRow(accelerator=each.accelerator, system="", remark=remark, **nothing)
    totals = each.totals
    cycles, time = figure(totals.total_cycles), figure(totals.time_us)
    return SweepRow(
        accelerator=each.accelerator,
        system=f"{each.system_config}, {each.memory_mode}",
        coverage=each.coverage.text,
        cycles="-" if cycles is None else group_digits(cycles),
        time="-" if time is None else si(time, "us"),
        delta=_delta(each, best),
        sram=_bytes(totals.sram_bytes),
        dram=_bytes(totals.dram_bytes),
        flash=_bytes(totals.flash_bytes),
        remark="; ".join(part for part in (each.scope, *each.degraded) if part),
    )


def _bytes(value: Value) -> str:
    size = figure(value)
    return "-" if size is None else si(size, "B")


def _delta(each: Estimate, best: Swept | None) -> str:
    if best is None or isinstance(best, FailedEstimate):
        return "-"
    mine, its = figure(each.totals.time_us), figure(best.totals.time_us)
    if each is best:
        return "-" if its is None else "best"
    if each.coverage.share != best.coverage.share or mine is None or not its:
        return "-"
    return f"+{percent(mine - its, its)}"
