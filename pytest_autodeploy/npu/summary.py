"""Vela's summary CSV: one row of totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_autodeploy.npu.tables import TableError, number, read_table

KIB = 1024
"""The unit in which Vela writes how much of a memory is used."""

_CYCLES = {
    "npu": "cycles_npu",
    "sram": "cycles_sram_access",
    "dram": "cycles_dram_access",
    "on_chip_flash": "cycles_on_chip_flash_access",
    "off_chip_flash": "cycles_off_chip_flash_access",
    "total": "cycles_total",
}
_AREAS = ("sram", "dram", "on_chip_flash", "off_chip_flash")
_OTHERS = {
    "clock_hz": "core_clock",
    "time_s": "inference_time",
    "batch": "batch_size",
    "macs": "nn_macs",
    "arena_cache_kib": "arena_cache_size",
}


@dataclass(frozen=True)
class Summary:
    """The totals of a run; None for what Vela does not give (NaN).

    ``cycles`` by npu, sram, dram, on_chip_flash, off_chip_flash and total; ``used_bytes`` by
    memory; ``cells`` are all columns as Vela wrote them.
    """

    cycles: Mapping[str, float | None]
    used_bytes: Mapping[str, float | None]
    clock_hz: float | None
    time_s: float | None
    batch: float | None
    macs: float | None
    arena_cache_kib: float | None
    cells: Mapping[str, str]


def parse_summary(text: str) -> Summary:
    """The totals in the text of a summary CSV.

    Raises TableError when a column or the row of totals is missing, or for what is no number.
    """
    table = read_table(text, quoted=False)
    used = {area: f"{area}_memory_used" for area in _AREAS}
    table.require([*_CYCLES.values(), *used.values(), *_OTHERS.values()])
    if len(table.rows) != 1:
        raise TableError(f"the summary has {len(table.rows)} rows of totals instead of one")
    row = table.rows[0]
    kib = {area: number(row, title) for area, title in used.items()}
    return Summary(
        cycles={key: number(row, title) for key, title in _CYCLES.items()},
        used_bytes={
            area: None if size is None else round(KIB * size) for area, size in kib.items()
        },
        cells=row.cells,
        **{key: number(row, title) for key, title in _OTHERS.items()},
    )
