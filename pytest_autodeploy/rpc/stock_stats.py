"""The statistics of neuralSPOT's validator: two generations of one struct.

Words are 32 bits, little-endian. Both start with the bytes of arena that TFLM used, those of the
struct, and those of an event. Then comes, in the generation before February 2025, the number of
events; in the later one the numbers of PMU events and of those of a layer, the number of events,
the platform, and 512 bytes of the header of a CSV. Events follow: eight words of cache counters
or PMU events, six of DWT, MACs, microseconds and a tag.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pytest_autodeploy.rpc.messages import LayerRecord

MOST_LAYERS = 4096
"""The longest log of events of any version."""

FAILED_ARENA = 0xDEADBEEF
"""What stands for the arena's use when TFLM could not allocate its tensors."""

AOT_EVENT_BYTES = 4
"""HeliaAOT's validator gives microseconds and nothing else."""

_DWT = ("cycles", "cpi mod 256", "exc mod 256", "sleep mod 256", "lsu mod 256", "fold mod 256")
_CACHE = (
    *("daccess", "dtaglookup", "dhitslookup", "dhitsline"),
    *("iaccess", "itaglookup", "ihitslookup", "ihitsline"),
)
_PMU_COLUMNS = slice(4, 8)
_PMU_PREFIX = "ARM_PMU_"
_APOLLO5 = 5


class NoStatistics(ValueError):
    """Bytes that are the statistics of neither generation."""


@dataclass(frozen=True)
class Layout:
    """Sizes of a generation: words of its configuration, bytes of preamble, event and tag."""

    config_words: int
    preamble_bytes: int
    event_bytes: int
    tag_bytes: int

    def layers(self, total_bytes: int) -> int:
        """How many events the struct has room for; 0 when it is not of this generation."""
        layers, rest = divmod(total_bytes - self.preamble_bytes, self.event_bytes)
        return layers if rest == 0 and 0 < layers <= MOST_LAYERS else 0


FIRST = Layout(config_words=6, preamble_bytes=16, event_bytes=76, tag_bytes=12)
SECOND = Layout(config_words=7, preamble_bytes=540, event_bytes=84, tag_bytes=20)
MOST_BYTES = SECOND.preamble_bytes + SECOND.event_bytes * MOST_LAYERS


@dataclass(frozen=True)
class Statistics:
    """What the firmware says of itself and of the first inference since its start.

    ``arena_used_bytes`` is 0 before it is configured. ``capacity`` is the number of layers that it
    was built for; ``layers`` are empty until it has profiled. ``platform`` is 3, 4 or 5 for the
    generation of the Apollo, 0 when it does not tell.
    """

    layout: Layout
    arena_used_bytes: int
    capacity: int
    platform: int
    counters: tuple[str, ...]
    layers: tuple[LayerRecord, ...]


def parse(data: bytes) -> Statistics:
    """Read statistics. Raises NoStatistics."""
    if len(data) < FIRST.preamble_bytes:
        raise NoStatistics(f"{len(data)} bytes")
    arena, total, event_bytes, count = struct.unpack_from("<4I", data)
    if total != len(data):
        raise NoStatistics(f"{len(data)} bytes that say to be {total}")
    if event_bytes == AOT_EVENT_BYTES:
        raise NoStatistics("those of HeliaAOT's validator, which has no layers of TFLM")
    # Only the first generation tells the size of an event before there is one.
    layout = FIRST if event_bytes == FIRST.event_bytes else SECOND
    capacity = layout.layers(total)
    if not capacity or event_bytes not in (0, layout.event_bytes):
        raise NoStatistics(f"{total} bytes with events of {event_bytes}")
    platform = 0
    counters: tuple[str, ...] = _DWT + _CACHE
    if layout is SECOND:
        count, platform = struct.unpack_from("<2I", data, 20)
        counters = _counters(platform, data[28 : layout.preamble_bytes])
    events = [_event(data, layout, index, counters) for index in range(min(count, capacity))]
    return Statistics(layout, arena, capacity, platform, counters, tuple(events))


def _counters(platform: int, header: bytes) -> tuple[str, ...]:
    """What the counters of an event are: neuralSPOT's own header names those of a Cortex-M55."""
    if platform != _APOLLO5:
        return _DWT + _CACHE if platform else ()
    text = header.partition(b"\0")[0].decode(errors="replace")
    columns = text.split(",")[_PMU_COLUMNS]
    return tuple(name.strip(' "').removeprefix(_PMU_PREFIX) for name in columns)


def _event(data: bytes, layout: Layout, index: int, counters: tuple[str, ...]) -> LayerRecord:
    at = layout.preamble_bytes + index * layout.event_bytes
    words = struct.unpack_from("<16I", data, at)
    tag = data[at + 64 :][: layout.tag_bytes].partition(b"\0")[0].decode(errors="replace")
    in_order = words[8:14] + words[:8] if counters[:1] == _DWT[:1] else words[:8]
    return LayerRecord(tag, words[15], in_order[: len(counters)])
