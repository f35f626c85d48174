"""The window in which a model runs, found in the stream of samples, and what is summed over it.

The handshake, seen on the lines: both high (the board saw the trigger), both low while the
inferences run, In1 high at their end. The window is exactly the samples from the one where both
are low to the one before In1 is high.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.power.lines import HOLD_S, level_changes
from pytest_autodeploy.power.meter import BOTH, IN0, IN1, Chunk
from pytest_autodeploy.power.tally import IdleLevel, Tally
from pytest_autodeploy.power.waveform import Envelope

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.power.meter import MeterFacts
    from pytest_autodeploy.session.energy import Waveform

PIECE = 65_536
"""Samples that are worked on at once: they and what is made of them fit a core's cache."""

CONTEXT_S = 0.1
"""How much of the idle time before the handshake the waveform shows."""


class Phase(Enum):
    """Where the handshake is."""

    IDLE = "idle"
    READY = "ready"
    RUNNING = "running"


class Ending(Enum):
    """How a window ended: as it should, or on the wrong line."""

    IN1 = "In1 rose"
    IN0 = "In0 rose"
    BOTH = "both rose"


@dataclass(frozen=True)
class Window:
    """The samples with the ids from ``start`` to before ``end``, and what they sum up to.

    ``mean_w`` is the mean over the samples that were there; ``idle_w`` that before the handshake,
    None when it was not seen.
    """

    start: int
    end: int
    rate_hz: float
    energy_j: float
    charge_c: float
    mean_w: float
    peak_w: float
    mean_v: float
    idle_w: float | None
    missing: int
    clipped: int
    ending: Ending
    waveform: Waveform

    @property
    def samples(self) -> int:
        """Samples of the window, with those that are missing."""
        return self.end - self.start

    @property
    def seconds(self) -> float:
        """Duration, by the count of samples."""
        return self.samples / self.rate_hz


class WindowFinder:
    """Finds windows in a stream; what it keeps does not grow with the stream.

    ``seen`` are the levels that the lines have had since `watch`.
    """

    def __init__(self, facts: MeterFacts) -> None:
        import numpy as np

        self._facts = facts
        self._hold = max(1, round(HOLD_S * facts.rate_hz))
        self._power = np.empty(PIECE)
        self._idle = IdleLevel(facts.rate_hz)
        self._envelope = Envelope()
        self._carry: Chunk | None = None
        self._gap_end = -1
        self._gap = 0
        self.position = -1
        self.level = 0
        self.seen: set[int] = set()
        self.begin()

    def begin(self) -> None:
        """Wait for the next handshake."""
        self.phase = Phase.IDLE
        self._tally = Tally(self._facts)
        self._idle.clear()
        self._idle_w: float | None = None
        self._start = 0
        self._envelope.clear(max(0, self.position))

    def watch(self) -> None:
        """Forget which levels have been seen, but for the present one."""
        self.seen = {self.level}

    @property
    def idle_volts(self) -> float:
        """Mean voltage since the phase began."""
        return self._tally.voltage / max(1, self._tally.samples)

    def feed(self, chunk: Chunk) -> list[Window]:
        """Take samples that follow those before, and return the windows that ended in them."""
        if not len(chunk):
            return []
        chunk = self._join(chunk)
        found: list[Window] = []
        offset, total = 0, len(chunk)
        while offset < total:
            end = min(offset + PIECE, total)
            changes, decided = level_changes(chunk.lines[offset:end], self.level, self._hold)
            found += self._take(chunk.part(offset, offset + decided), changes)
            offset += decided
            if end == total and offset < total:
                self._carry = chunk.part(offset, total)
                break
        return found

    def _join(self, chunk: Chunk) -> Chunk:
        """The chunk behind what was undecided; a gap decides that, and is counted."""
        carry, self._carry = self._carry, None
        if self.position < 0:
            self._envelope.clear(chunk.first)
            self.level = int(chunk.lines[0])
            self.seen = {self.level}
        before = carry.end if carry else self.position
        lost = chunk.first - before if before >= 0 else 0
        if carry and not lost:
            return _concatenate(carry, chunk)
        if carry:
            self._take(carry, [])
        if lost:
            self._gap, self._gap_end = lost, chunk.first
            if self.phase is Phase.RUNNING:
                self._tally.missing += lost
        return chunk

    def _take(self, chunk: Chunk, changes: list[tuple[int, int]]) -> list[Window]:
        found: list[Window] = []
        power = self._watts(chunk)
        start = 0
        for index, level in [*changes, (len(chunk), self.level)]:
            self._sum(chunk.part(start, index), power[start:index])
            start = index
            self.position = chunk.first + index
            if index < len(chunk) and (window := self._change(level)):
                found.append(window)
        return found

    def _watts(self, chunk: Chunk) -> np.ndarray[Any, np.dtype[np.float64]]:
        import numpy as np

        power = self._power[: len(chunk)]
        np.copyto(power, chunk.current)
        power *= chunk.voltage
        return power

    def _sum(self, chunk: Chunk, power: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        if not len(chunk):
            return
        self._tally.add(power, chunk.current, chunk.voltage)
        if self.phase is Phase.IDLE:
            self._idle.add(chunk.first, power)
        self._envelope.add(power)
        context = round(CONTEXT_S * self._facts.rate_hz)
        if self.phase is Phase.IDLE and self._envelope.samples > 2 * context:
            self._envelope.keep_latest(context)

    def _change(self, level: int) -> Window | None:
        self.level = level
        self.seen.add(level)
        if self.phase is Phase.RUNNING:
            window = self._window({IN1: Ending.IN1, IN0: Ending.IN0}.get(level, Ending.BOTH))
            self.begin()
            return window
        if self.phase is Phase.IDLE and level == BOTH:
            self._idle_w = self._idle.watts
            self._enter(Phase.READY)
        elif self.phase is Phase.READY and level == 0:
            self._enter(Phase.RUNNING)
            self._start = self.position
            if self._gap_end == self.position:
                self._tally.missing += self._gap  # the edge is somewhere in the gap
        return None

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._tally = Tally(self._facts)

    def _window(self, ending: Ending) -> Window:
        tally, rate = self._tally, self._facts.rate_hz
        return Window(
            start=self._start,
            end=self.position,
            rate_hz=rate,
            energy_j=tally.power / rate,
            charge_c=tally.current / rate,
            mean_w=tally.power / max(1, tally.samples),
            peak_w=tally.peak,
            mean_v=tally.voltage / max(1, tally.samples),
            idle_w=self._idle_w,
            missing=tally.missing,
            clipped=tally.clipped,
            ending=ending,
            waveform=self._envelope.waveform(rate, self._start, self.position),
        )


def _concatenate(carry: Chunk, chunk: Chunk) -> Chunk:
    import numpy as np

    return Chunk(
        carry.first,
        np.concatenate((carry.current, chunk.current)),
        np.concatenate((carry.voltage, chunk.voltage)),
        np.concatenate((carry.lines, chunk.lines)),
    )
