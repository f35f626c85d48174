"""The events that the model of a Cortex-M55 knows: cycles, and what never happens in it.

The model has cycles and nothing else of the core: neither instructions, nor caches, nor stalls.
The bus has the clock of the core. There are no interrupts, memory errors or software increments.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.catalog.pmu import EVENTS
from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.service import Refused

AT_ONCE = 4
"""As on the chip, where two counters of 16 bits make one of 32."""

CYCLES = ("CPU_CYCLES", "BUS_CYCLES")
NEVER = ("SW_INCR", "EXC_TAKEN", "EXC_RETURN", "MEMORY_ERROR")
MODELLED = {EVENTS[name]: name in CYCLES for name in (*CYCLES, *NEVER)}
"""The numbers of the events, and whether one is counted in every cycle."""


def check_events(events: Sequence[int], core: str) -> None:
    """Raise Refused for what the board cannot count."""
    if core != "cortex-m55":
        raise Refused(Status.UNSUPPORTED, f"a {core} has no performance monitor")
    if len(events) > AT_ONCE:
        raise Refused(Status.BAD_ARGUMENT, f"{len(events)} events; {AT_ONCE} fit at once")
    unknown = [event for event in events if event not in MODELLED]
    if unknown:
        names = {number: name for name, number in EVENTS.items()}
        text = ", ".join(names.get(event, f"0x{event:04X}") for event in unknown)
        known = ", ".join((*CYCLES, *NEVER))
        raise Refused(Status.UNSUPPORTED, f"not modelled: {text}; modelled are {known}")


def counted(events: Sequence[int], cycles: int) -> tuple[int, ...]:
    """What a layer of so many cycles counts, in 32 bits."""
    return tuple(cycles & 0xFFFF_FFFF if MODELLED[event] else 0 for event in events)
