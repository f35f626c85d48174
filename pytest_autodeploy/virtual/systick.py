"""SysTick: the core's own timer, which counts down and begins again."""

from __future__ import annotations

from collections.abc import Callable

from pytest_autodeploy.virtual.timebase import FS, Timebase

CTRL, LOAD, VAL, CALIB = 0x10, 0x14, 0x18, 0x1C
_ENABLE, _INTERRUPT, _COUNTED = 1, 2, 1 << 16


class SysTick:
    """Counts the clock of the core, also while it sleeps; ``tick`` is called at each end."""

    def __init__(self, time: Timebase, tick: Callable[[], None]) -> None:
        self._time = time
        self._tick = tick
        self.reset()

    def reset(self) -> None:
        """Off."""
        self._control = self._load = self._ticks = 0
        self._start = 0  # when it was 0 without a tick, in femtoseconds
        self._counted = False

    @property
    def _clock_fs(self) -> int:
        return FS // self._time.hz

    def read(self, offset: int) -> int:
        """A register by its offset in the system control space."""
        now = self._time.now()
        self.pass_time(now)
        if offset == CTRL:
            counted, self._counted = self._counted, False
            return self._control | (_COUNTED if counted else 0)
        return {LOAD: self._load, VAL: self._value(now)}.get(offset, 0)

    def write(self, offset: int, value: int) -> None:
        """Write a register; after a write to VAL it reloads with its next clock, without a tick."""
        now = self._time.now()
        self.pass_time(now)
        if offset == CTRL:
            if value & _ENABLE and not self._control & _ENABLE:
                self._begin(now)
            self._control = value & 7
        elif offset == LOAD:
            self._load = value & 0xFF_FFFF
        elif offset == VAL:
            self._begin(now)
            self._counted = False

    def _begin(self, now: int) -> None:
        self._start, self._ticks = now, 0

    @property
    def _runs(self) -> bool:
        return bool(self._control & _ENABLE and self._load)

    def _value(self, now: int) -> int:
        clocks = (now - self._start) // self._clock_fs
        if not self._runs or clocks == 0:
            return 0
        return self._load - (clocks - 1) % (self._load + 1)

    def next_event(self) -> int | None:
        """When it ends next."""
        if not self._runs:
            return None
        return self._start + (self._ticks + 1) * (self._load + 1) * self._clock_fs

    def pass_time(self, now: int) -> None:
        """What was due by now happens."""
        if not self._runs:
            return
        ticks = (now - self._start) // self._clock_fs // (self._load + 1)
        if ticks > self._ticks:
            self._ticks, self._counted = ticks, True
            if self._control & _INTERRUPT:
                self._tick()
