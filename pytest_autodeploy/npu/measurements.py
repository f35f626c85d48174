"""An estimate as measurements."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.base.measurement import Better, Measurement
from pytest_autodeploy.npu.results import Estimate, Unavailable, Value


def measurements_of(estimate: Estimate) -> list[Measurement]:
    """What is available, of source ``estimated``; the note says when it is not the whole model.

    npu_total_cycles, npu_cycles, npu_macs (1), npu_time (us), npu_inferences_per_second (1/s),
    npu_sram, npu_dram, npu_on_chip_flash, npu_off_chip_flash, npu_flash (B), and the shares
    npu_coverage (of operators) and npu_coverage_macs (1).
    """
    totals, coverage = estimate.totals, estimate.coverage
    rows: Sequence[tuple[str, Value, str, Better]] = (
        ("npu_total_cycles", totals.total_cycles, "1", "lower"),
        ("npu_cycles", totals.npu_cycles, "1", "lower"),
        ("npu_time", totals.time_us, "us", "lower"),
        ("npu_inferences_per_second", totals.inferences_per_second, "1/s", "higher"),
        ("npu_macs", totals.macs, "1", "neither"),
        ("npu_sram", totals.sram_bytes, "B", "lower"),
        ("npu_dram", totals.dram_bytes, "B", "lower"),
        ("npu_on_chip_flash", totals.on_chip_flash_bytes, "B", "lower"),
        ("npu_off_chip_flash", totals.off_chip_flash_bytes, "B", "lower"),
        ("npu_flash", totals.flash_bytes, "B", "lower"),
        ("npu_coverage", coverage.share, "1", "higher"),
        ("npu_coverage_macs", coverage.macs, "1", "higher"),
    )
    return [
        Measurement(name, value, unit, better, "estimated", estimate.scope)
        for name, value, unit, better in rows
        if not isinstance(value, Unavailable)
    ]
