"""The events that the performance monitor of a Cortex-M55 counts, by name, and sets of them.

Numbers: Arm's event numbers, as CMSIS-Core (pmu_armv8.h) lists them for the Armv8.1-M performance
monitor. There MVE_ST_MULTI_RETIRED has the number of MVE_LD_MULTI_SPEC; here it has the one before
its own MVE_ST_MULTI_SPEC, 0x0265, as every other event that retires.
"""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
EVENTS: Mapping[str, int] = {
    "SW_INCR": 0x0000, "L1I_CACHE_REFILL": 0x0001, "L1D_CACHE_REFILL": 0x0003,
    "L1D_CACHE": 0x0004, "LD_RETIRED": 0x0006, "ST_RETIRED": 0x0007, "INST_RETIRED": 0x0008,
    "EXC_TAKEN": 0x0009, "EXC_RETURN": 0x000A, "PC_WRITE_RETIRED": 0x000C,
    "BR_IMMED_RETIRED": 0x000D, "BR_RETURN_RETIRED": 0x000E, "UNALIGNED_LDST_RETIRED": 0x000F,
    "CPU_CYCLES": 0x0011, "MEM_ACCESS": 0x0013, "L1I_CACHE": 0x0014, "L1D_CACHE_WB": 0x0015,
    "BUS_ACCESS": 0x0019, "MEMORY_ERROR": 0x001A, "BUS_CYCLES": 0x001D,
    "L1D_CACHE_ALLOCATE": 0x001F, "BR_RETIRED": 0x0021, "BR_MIS_PRED_RETIRED": 0x0022,
    "STALL_FRONTEND": 0x0023, "STALL_BACKEND": 0x0024, "LL_CACHE_RD": 0x0036,
    "LL_CACHE_MISS_RD": 0x0037, "L1D_CACHE_MISS_RD": 0x0039, "STALL": 0x003C,
    "L1D_CACHE_RD": 0x0040, "LE_RETIRED": 0x0100, "LE_CANCEL": 0x0108, "SE_CALL_S": 0x0114,
    "SE_CALL_NS": 0x0115, "MVE_INST_RETIRED": 0x0200, "MVE_FP_RETIRED": 0x0204,
    "MVE_FP_HP_RETIRED": 0x0208, "MVE_FP_SP_RETIRED": 0x020C, "MVE_FP_MAC_RETIRED": 0x0214,
    "MVE_INT_RETIRED": 0x0224, "MVE_INT_MAC_RETIRED": 0x0228, "MVE_LDST_RETIRED": 0x0238,
    "MVE_LD_RETIRED": 0x023C, "MVE_ST_RETIRED": 0x0240, "MVE_LDST_CONTIG_RETIRED": 0x0244,
    "MVE_LD_CONTIG_RETIRED": 0x0248, "MVE_ST_CONTIG_RETIRED": 0x024C,
    "MVE_LDST_NONCONTIG_RETIRED": 0x0250, "MVE_LD_NONCONTIG_RETIRED": 0x0254,
    "MVE_ST_NONCONTIG_RETIRED": 0x0258, "MVE_LDST_MULTI_RETIRED": 0x025C,
    "MVE_LD_MULTI_RETIRED": 0x0260, "MVE_ST_MULTI_RETIRED": 0x0264,
    "MVE_LDST_UNALIGNED_RETIRED": 0x028C, "MVE_LD_UNALIGNED_RETIRED": 0x0290,
    "MVE_ST_UNALIGNED_RETIRED": 0x0294, "MVE_LDST_UNALIGNED_NONCONTIG_RETIRED": 0x0298,
    "MVE_VREDUCE_RETIRED": 0x02A0, "MVE_VREDUCE_FP_RETIRED": 0x02A4,
    "MVE_VREDUCE_INT_RETIRED": 0x02A8, "MVE_PRED": 0x02B8, "MVE_STALL": 0x02CC,
    "MVE_STALL_RESOURCE": 0x02CD, "MVE_STALL_RESOURCE_MEM": 0x02CE,
    "MVE_STALL_RESOURCE_FP": 0x02CF, "MVE_STALL_RESOURCE_INT": 0x02D0,
    "MVE_STALL_BREAK": 0x02D3, "MVE_STALL_DEPENDENCY": 0x02D4,
    "ITCM_ACCESS": 0x4007, "DTCM_ACCESS": 0x4008,
}
# fmt: on

DEFAULT = "default"
"""The board's own choice of events."""

SETS: Mapping[str, tuple[str, ...]] = {
    "mve": tuple(name for name in EVENTS if name.startswith("MVE_") and "STALL" not in name),
    "cache": tuple(name for name in EVENTS if "CACHE" in name),
    "memory": (
        *("LD_RETIRED", "ST_RETIRED", "MEM_ACCESS", "BUS_ACCESS", "ITCM_ACCESS", "DTCM_ACCESS"),
        *("UNALIGNED_LDST_RETIRED", "MVE_LDST_RETIRED", "MVE_LDST_CONTIG_RETIRED"),
        *("MVE_LDST_NONCONTIG_RETIRED", "MVE_LDST_MULTI_RETIRED", "MVE_LDST_UNALIGNED_RETIRED"),
    ),
    "stalls": ("CPU_CYCLES", *(name for name in EVENTS if "STALL" in name)),
    "branches": (
        *("BR_RETIRED", "BR_MIS_PRED_RETIRED", "BR_IMMED_RETIRED", "BR_RETURN_RETIRED"),
        *("PC_WRITE_RETIRED", "LE_RETIRED", "LE_CANCEL"),
    ),
    "all": tuple(EVENTS),
}

SYNTAX = f"{', '.join((DEFAULT, *SETS))}, or names of events, such as INST_RETIRED,CPU_CYCLES"


def parse_events(text: str) -> tuple[str, ...]:
    """The events that a user wrote: sets and names with commas between, each event once.

    Letter case and the prefix ``ARM_PMU_`` do not matter. ``default`` alone is none. Raises
    ValueError, which lists the valid names and the closest.
    """
    if text.strip().lower() == DEFAULT:
        return ()
    words = [word.strip() for word in text.split(",")]
    return tuple(dict.fromkeys(name for word in words for name in _events(word)))


def _events(word: str) -> tuple[str, ...]:
    if word.lower() in SETS:
        return SETS[word.lower()]
    name = word.upper().removeprefix("ARM_PMU_")
    if name in EVENTS:
        return (name,)
    raise ValueError(
        f"no event or set of events is named {word!r}{_meant(name)}; "
        f"sets: {', '.join((DEFAULT, *SETS))}; events: {', '.join(EVENTS)}"
    )


def _meant(name: str) -> str:
    import difflib

    by_upper = {known.upper(): known for known in (*SETS, *EVENTS)}
    near = difflib.get_close_matches(name, by_upper, n=1)
    return f" (did you mean {by_upper[near[0]]}?)" if near else ""
