"""PWRCTRL of an Apollo3 Plus: what is powered is there at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral

DEVPWREN, MEMPWREN, DEVPWRSTATUS, MEMPWRSTATUS = 0x08, 0x14, 0x20, 0x18
_STATUS_OF = {DEVPWRSTATUS: DEVPWREN, MEMPWRSTATUS: MEMPWREN, 0x04: 0x00}


class Pwrctrl(Peripheral):
    """Status registers say what was asked for."""

    NAMES: ClassVar[Mapping[int, str]] = {
        0x00: "SUPPLYSRC",
        0x04: "SUPPLYSTATUS",
        DEVPWREN: "DEVPWREN",
        0x0C: "MEMPWDINSLEEP",
        0x10: "MEMPWRENMODE",
        MEMPWREN: "MEMPWREN",
        MEMPWRSTATUS: "MEMPWRSTATUS",
        0x1C: "DEVPWREVENTEN",
        DEVPWRSTATUS: "DEVPWRSTATUS",
        0x24: "SRAMCTRL",
        0x28: "ADCSTATUS",
        0x2C: "MISC",
        0x30: "DEVPWREVENTEN",
    }

    def __init__(self) -> None:
        super().__init__("PWRCTRL")

    def read(self, offset: int) -> int:
        return super().read(_STATUS_OF.get(offset, offset))
