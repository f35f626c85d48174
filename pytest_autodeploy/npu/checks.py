"""Whether the figures of one run of Vela agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_autodeploy.base.units import group_digits
from pytest_autodeploy.npu.results import Layer
from pytest_autodeploy.npu.summary import KIB, Summary

_ROUNDING = 1e-6


def disagreements(
    summary: Summary, layers: Sequence[Layer], counts: Mapping[str, int]
) -> Iterator[str]:
    """What does not agree, in words: sums over the layers, the time, the layers on the CPU."""
    for what, values, total in (
        ("cycles", [layer.cycles for layer in layers], summary.cycles["total"]),
        ("NPU cycles", [layer.npu_cycles for layer in layers], summary.cycles["npu"]),
        ("MACs", [layer.macs for layer in layers], summary.macs),
    ):
        added = sum(value or 0 for value in values)
        if not _equal(added, total or 0):
            yield (
                f"the {what} of the layers add up to {group_digits(added)},"
                f" the summary says {group_digits(total)}"
            )
    cycles = (summary.time_s or 0) * (summary.clock_hz or 0)
    if not _equal(cycles, summary.cycles["total"] or 0):
        yield f"the time of the summary is {group_digits(cycles)} cycles long, not its total"
    on_cpu = sum(layer.target == "CPU" for layer in layers)
    if on_cpu != counts["CPU"]:
        yield f"{on_cpu} layers are on the CPU, Vela counts {counts['CPU']}"


def over_the_cache(summary: Summary) -> Iterator[str]:
    """A warning when the memory mode limits the SRAM and Vela did not keep to it."""
    used, limit = summary.used_bytes["sram"], summary.arena_cache_kib
    if used is not None and limit is not None and used > KIB * limit:
        yield (
            f"Vela uses {group_digits(used)} B of SRAM although the memory mode allows"
            f" {group_digits(KIB * limit)} B"
        )


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= max(0.5, _ROUNDING * abs(other))
