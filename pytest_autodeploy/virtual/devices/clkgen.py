"""CLKGEN of an Apollo3 Plus: the clock of the core, with burst mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral

FREQCTRL = 0x34
_REQUEST, _ACKNOWLEDGED, _ACTIVE = 1, 2, 4


class Clkgen(Peripheral):
    """``set_clock`` is told whether the core bursts: what is asked for is acknowledged at once."""

    NAMES: ClassVar[Mapping[int, str]] = {
        0x00: "CALXT",
        0x04: "CALRC",
        0x08: "ACALCTR",
        0x0C: "OCTRL",
        0x10: "CLKOUT",
        0x14: "CLKKEY",
        0x18: "CCTRL",
        0x1C: "STATUS",
        0x20: "HFADJ",
        0x28: "CLOCKENSTAT",
        0x2C: "CLOCKEN2STAT",
        0x30: "CLOCKEN3STAT",
        0x3C: "BLEBUCKTONADJ",
    }

    def __init__(self, set_clock: Callable[[bool], None]) -> None:
        super().__init__("CLKGEN")
        self._set_clock = set_clock

    def reset(self) -> None:
        super().reset()
        self.values[FREQCTRL] = 0

    def read(self, offset: int) -> int:
        if offset != FREQCTRL:
            return super().read(offset)
        request = self.values[FREQCTRL] & _REQUEST
        return request and _REQUEST | _ACKNOWLEDGED | _ACTIVE

    def write(self, offset: int, value: int) -> None:
        super().write(offset, value)
        if offset == FREQCTRL:
            self._set_clock(bool(value & _REQUEST))
