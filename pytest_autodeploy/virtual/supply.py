"""What a power meter sees of a machine: its lines, and the modelled power of its core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_autodeploy.catalog.supply import SUPPLY_V, power_states
from pytest_autodeploy.virtual.timebase import FS, Timebase

IN0, IN1 = 1, 2
"""The bits of levels, as the meter has them."""

Stretch = list[float]
"""Seconds, levels, watts and volts."""


@dataclass(frozen=True)
class Wires:
    """The pins that a meter is connected to, by the numbers of the chip's GPIO."""

    in0: int
    in1: int
    trigger: int

    def levels(self, outputs: int) -> int:
        """The meter's lines at these outputs, a bit each."""
        return IN0 * (outputs >> self.in0 & 1) | IN1 * (outputs >> self.in1 & 1)


class Supply:
    """Records, while a meter streams, the stretches in which nothing changes.

    The meter takes them span by span; ``deliver`` gets those of a span when its time has passed.
    Nothing is lost between two spans: the machine may have run on meanwhile.
    """

    def __init__(self, time: Timebase, wires: Wires | None) -> None:
        self._time = time
        self._wires = wires
        self._outputs = 0
        self._asleep = False
        self._streams = False
        self._since = self._taken = 0
        self._wanted: int | None = None
        self._stretches: list[tuple[int, int, float]] = []
        self.deliver: Callable[[list[Stretch]], None] = lambda _stretches: None

    @property
    def wanted(self) -> int | None:
        """Until when the meter waits for samples; None when it does not."""
        return self._wanted

    def stream(self, on: bool) -> None:
        """Begin to record, or end it."""
        self._streams, self._wanted = on, None
        self._since = self._taken = self._time.now()
        self._stretches.clear()

    def want(self, seconds: float) -> bool:
        """The meter waits for a span; False when it does not stream, or has no lines here."""
        if not self._streams or self._wires is None:
            return False
        self._wanted = self._taken + round(seconds * FS)
        return True

    def set_outputs(self, outputs: int) -> None:
        """The levels of the chip's outputs, a bit each."""
        self.book()
        self._outputs = outputs

    def set_asleep(self, asleep: bool) -> None:
        """The core sleeps, or runs again."""
        self.book()
        self._asleep = asleep

    def book(self) -> None:
        """What was so far ends here; to be called before the clock changes, too."""
        if self._streams and self._wires is not None:
            self._book(self._wires.levels(self._outputs))

    def _book(self, levels: int) -> None:
        now = self._time.now()
        states = power_states(self._time.hz)
        watts = states.sleeping if self._asleep else states.running
        if now == self._since:
            return
        if self._stretches and self._stretches[-1][1:] == (levels, watts):
            passed, *_ = self._stretches.pop()
            self._stretches.append((passed + now - self._since, levels, watts))
        else:
            self._stretches.append((now - self._since, levels, watts))
        self._since = now

    def serve(self) -> None:
        """Deliver what the meter waits for, if that time has passed."""
        if self._wanted is None or self._time.now() < self._wanted:
            return
        self.book()
        span, self._taken, self._wanted = self._wanted - self._taken, self._wanted, None
        self.deliver(self._cut(span))

    def _cut(self, span: int) -> list[Stretch]:
        taken: list[Stretch] = []
        while span > 0:
            passed, levels, watts = self._stretches[0]
            part = min(passed, span)
            taken.append([part / FS, levels, watts, SUPPLY_V])
            span -= part
            if part == passed:
                del self._stretches[0]
            else:
                self._stretches[0] = (passed - part, levels, watts)
        return taken
