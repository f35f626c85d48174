"""DWT and ITM: the cycle counter, and what a program prints for a debugger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral
from pytest_autodeploy.virtual.timebase import Timebase

DWT_CTRL, CYCCNT = 0x00, 0x04
_ENABLED = 1
_TEXT_PORT = 0
_MASK = 0xFFFF_FFFF


class Dwt(Peripheral):
    """A cycle is an instruction; the counter stands still while the core sleeps."""

    NAMES: ClassVar[Mapping[int, str]] = {
        DWT_CTRL: "CTRL",
        0x08: "CPICNT",
        0x0C: "EXCCNT",
        0x10: "SLEEPCNT",
        0x14: "LSUCNT",
        0x18: "FOLDCNT",
        0x1C: "PCSR",
        0xFB0: "LAR",
    }

    def __init__(self, time: Timebase) -> None:
        super().__init__("DWT")
        self._time = time
        self._offset = 0

    def _cycles(self) -> int:
        self._time.catch_up()
        return self._time.cycles

    def read(self, offset: int) -> int:
        if offset != CYCCNT:
            return super().read(offset)
        counts = self.values.get(DWT_CTRL, 0) & _ENABLED
        return (self._cycles() + self._offset if counts else self._offset) & _MASK

    def write(self, offset: int, value: int) -> None:
        if offset == CYCCNT:
            counts = self.values.get(DWT_CTRL, 0) & _ENABLED
            self._offset = value - (self._cycles() if counts else 0)
            return
        if offset == DWT_CTRL:
            before = self.values.get(DWT_CTRL, 0) & _ENABLED
            change = (value & _ENABLED) - before
            self._offset -= change * self._cycles()
        super().write(offset, value)


class Itm(Peripheral):
    """Takes every word at once; ``LSR`` says that it is unlocked.

    Port 0 is for text, as in CMSIS and neuralSPOT: ``said`` is told each line.
    """

    NAMES: ClassVar[Mapping[int, str]] = {
        **{4 * port: f"STIM{port}" for port in range(32)},
        0xE00: "TER",
        0xE40: "TPR",
        0xE80: "TCR",
        0xFB0: "LAR",
        0xFB4: "LSR",
    }

    def __init__(self, said: Callable[[str], None]) -> None:
        super().__init__("ITM")
        self._said = said
        self._text = bytearray()

    def reset(self) -> None:
        super().reset()
        self._text.clear()

    def write(self, offset: int, value: int) -> None:
        if offset != _TEXT_PORT:
            super().write(offset, value)
        elif value == ord("\n"):
            self._said(self._text.decode(errors="replace").rstrip("\r"))
            self._text.clear()
        else:
            self._text.append(value & 0xFF)

    def read(self, offset: int) -> int:
        return 1 if offset < 0x80 else super().read(offset)
