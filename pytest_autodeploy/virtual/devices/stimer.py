"""STIMER of an Apollo3 Plus: a counter that runs while the core sleeps, with eight alarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Context, Peripheral
from pytest_autodeploy.virtual.timebase import FS

STCFG, STTMR, SCMPR0 = 0x140, 0x144, 0x150
STMINTEN, STMINTSTAT, STMINTCLR, STMINTSET = 0x300, 0x304, 0x308, 0x30C
SNVR = range(0x1F0, 0x200, 4)
"""They keep their values when the chip is reset."""

ALARMS = 8
_CLOCKS_HZ = {1: 3_000_000, 2: 187_500, 3: 32_768, 4: 16_384, 5: 1_024, 6: 1_000}
_FREEZE, _CLEAR = 1 << 31, 1 << 30
_MASK = 0xFFFF_FFFF


class Stimer(Peripheral):
    """A number written to an alarm is added to the counter, as the chip does it.

    ``first_interrupt`` is that of alarm 0.
    """

    NAMES: ClassVar[Mapping[int, str]] = {
        STMINTEN: "STMINTEN",
        0x148: "CAPTURECONTROL",
        **{register: f"SNVR{number}" for number, register in enumerate(SNVR)},
    }

    def __init__(self, context: Context, first_interrupt: int) -> None:
        super().__init__("STIMER")
        self._context = context
        self._first = first_interrupt
        self.reset()

    def reset(self) -> None:
        kept = {offset: value for offset, value in self.values.items() if offset in SNVR}
        super().reset()
        self.values.update(kept)
        self._config = 0
        self._start = self._context.time.now()
        self._before = 0  # counts until the present clock was chosen
        self._alarms: dict[int, int] = {}
        self._due: dict[int, int] = {}
        self._status = 0

    @property
    def _hz(self) -> int:
        stopped = self._config & (_FREEZE | _CLEAR)
        return 0 if stopped else _CLOCKS_HZ.get(self._config & 0xF, 0)

    def _counts(self, now: int) -> int:
        return self._before + (now - self._start) * self._hz // FS

    def read(self, offset: int) -> int:
        now = self._context.time.now()
        self.pass_time(now)
        if offset == STTMR:
            return self._counts(now) & _MASK
        if offset == STCFG:
            return self._config
        if offset in (STMINTSTAT, STMINTSET):
            return self._status
        if SCMPR0 <= offset < SCMPR0 + 4 * ALARMS:
            return self._alarms.get((offset - SCMPR0) // 4, 0) & _MASK
        return super().read(offset)

    def write(self, offset: int, value: int) -> None:
        now = self._context.time.now()
        self.pass_time(now)
        if offset == STCFG:
            self._configure(now, value)
        elif SCMPR0 <= offset < SCMPR0 + 4 * ALARMS:
            self._set_alarm((offset - SCMPR0) // 4, now, value)
        elif offset == STMINTCLR:
            self._status &= ~value
        elif offset == STMINTSET:
            self._status |= value
        else:
            super().write(offset, value)
        self._update_lines()

    def _configure(self, now: int, value: int) -> None:
        self._before = 0 if value & _CLEAR else self._counts(now)
        self._start, self._config = now, value
        self._due = {number: self._time_of(count) for number, count in self._alarms.items()}

    def _set_alarm(self, number: int, now: int, delta: int) -> None:
        self._alarms[number] = self._counts(now) + delta
        self._due[number] = self._time_of(self._alarms[number])
        self._context.stop()

    def _time_of(self, count: int) -> int:
        """When the counter has this count; a time that never comes without a clock."""
        hz = self._hz
        return self._start + -(-(count - self._before) * FS // hz) if hz else 1 << 128

    def _is_on(self, number: int) -> bool:
        return bool(self._config >> (8 + number) & 1)

    def next_event(self) -> int | None:
        due = [time for number, time in self._due.items() if self._is_on(number)]
        return min(due, default=None)

    def pass_time(self, now: int) -> None:
        for number, time in list(self._due.items()):
            if time <= now and self._is_on(number):
                del self._due[number]
                self._status |= 1 << number
                self._update_lines()

    def _update_lines(self) -> None:
        active = self._status & self.values.get(STMINTEN, 0)
        for number in range(ALARMS):
            self._context.raise_interrupt(self._first + number, bool(active >> number & 1))
