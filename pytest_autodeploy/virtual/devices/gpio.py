"""GPIO of an Apollo3 Plus: pads as outputs and inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral

RD, WT, WTS, WTC, EN, ENS, ENC = 0x80, 0x8C, 0x98, 0xA4, 0xB0, 0xBC, 0xC8
"""First of three registers each, for pads 0 to 31, 32 to 63 and 64 to 95."""

_WORDS = 3
_PADS = 0x80  # below are the pads' configurations


class Gpio(Peripheral):
    """``changed`` is told the outputs, a bit each, when they change."""

    NAMES: ClassVar[Mapping[int, str]] = {
        **{offset: f"PADREG{offset // 4}" for offset in range(0, 0x60, 4)},
        **{0x60 + offset: f"PADKEY{offset // 4}" for offset in range(0, 0x20, 4)},
        **{EN + 4 * word: f"EN{'ABC'[word]}" for word in range(_WORDS)},
        **{0xD4 + 4 * number: f"EN/STMRCAP {number}" for number in range(8)},
        **{offset: f"CFG at 0x{offset:03X}" for offset in range(0xD8, 0x240, 4)},
    }

    def __init__(self, changed: Callable[[int], None]) -> None:
        super().__init__("GPIO")
        self._changed = changed
        self.outputs = 0
        self.inputs = 0

    def reset(self) -> None:
        super().reset()
        self._set(0)

    def read(self, offset: int) -> int:
        if RD <= offset < RD + 4 * _WORDS:
            return (self.inputs | self.outputs) >> 8 * (offset - RD) & 0xFFFF_FFFF
        if WT <= offset < WT + 4 * _WORDS:
            return self.outputs >> 8 * (offset - WT) & 0xFFFF_FFFF
        return super().read(offset)

    def write(self, offset: int, value: int) -> None:
        if WT <= offset < WT + 4 * _WORDS:
            shift = 8 * (offset - WT)
            self._set(self.outputs & ~(0xFFFF_FFFF << shift) | value << shift)
        elif WTS <= offset < WTS + 4 * _WORDS:
            self._set(self.outputs | value << 8 * (offset - WTS))
        elif WTC <= offset < WTC + 4 * _WORDS:
            self._set(self.outputs & ~(value << 8 * (offset - WTC)))
        elif ENS <= offset < ENS + 4 * _WORDS:
            self._store(offset - ENS + EN, self.values.get(offset - ENS + EN, 0) | value)
        elif ENC <= offset < ENC + 4 * _WORDS:
            self._store(offset - ENC + EN, self.values.get(offset - ENC + EN, 0) & ~value)
        else:
            super().write(offset, value)

    def _set(self, outputs: int) -> None:
        if outputs != self.outputs:
            self.outputs = outputs
            self._changed(outputs)
