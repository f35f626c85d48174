"""What every power meter offers: the board's supply, a trigger line, and a stream of samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pytest_autodeploy.base.measurement import Source

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float32]]
    Codes = np.ndarray[Any, np.dtype[np.uint8]]

IN0, IN1 = 1, 2
"""The bits of `Chunk.lines`."""

BOTH = IN0 | IN1


@dataclass(frozen=True)
class Chunk:
    """Consecutive samples: id of the first, current (A), voltage (V), and the lines as bits.

    The arrays have one length; ids of samples that were lost are missing between two chunks.
    """

    first: int
    current: Floats
    voltage: Floats
    lines: Codes

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def end(self) -> int:
        """The id after the last sample."""
        return self.first + len(self)

    def part(self, start: int, end: int) -> Chunk:
        """The samples from index ``start`` to before ``end``, as views."""
        here = slice(start, end)
        return Chunk(self.first + start, self.current[here], self.voltage[here], self.lines[here])


@dataclass(frozen=True)
class MeterFacts:
    """What is known of an open meter.

    ``rate_hz`` is in samples a second. Samples at or beyond ``max_a`` or ``max_v`` are clipped.
    """

    name: str
    source: Source
    rate_hz: float
    max_a: float
    max_v: float


class Meter(Protocol):
    """A power meter; ``close`` may be called at any time and twice, and leaves the supply on."""

    def open(self) -> MeterFacts:
        """Take the meter and set it up; once it is open, it only says again what it is.

        Raises MeterUnavailable, or MissingExtra.
        """

    def supply(self, on: bool) -> None:
        """Switch the supply of the board."""

    def trigger(self, high: bool) -> None:
        """Set the line that tells the board to begin."""

    def streaming(self) -> AbstractContextManager[Iterator[Chunk]]:
        """The samples from now on; the stream ends with the context. Raises MeterFailed."""

    def close(self) -> None:
        """Release the meter."""
