"""MCUCTRL of an Apollo3 Plus: what the chip is, and what its features acknowledge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral

CHIPREV, SKU, FEATUREENABLE = 0x0C, 0x14, 0x18
_REVISION_B0, _ALL_ALLOWED = 0x11, 0x7F
_BLE, _BURST = 0, 4
"""Where a feature has its request; acknowledgement and availability are the two bits above."""


class Mcuctrl(Peripheral):
    """Everything that the SKU could forbid is allowed."""

    NAMES: ClassVar[Mapping[int, str]] = {
        0x00: "CHIPPN",
        0x04: "CHIPID0",
        0x08: "CHIPID1",
        0x10: "VENDORID",
        0x20: "DEBUGGER",
        0x100: "BODCTRL",
        0x104: "ADCPWRDLY",
        0x10C: "ADCCAL",
        0x110: "ADCBATTLOAD",
        0x118: "ADCTRIM",
        0x11C: "ADCREFCOMP",
        0x120: "XTALCTRL",
        0x124: "XTALGENCTRL",
        0x148: "LDOREG1",
        0x14C: "LDOREG2",
        0x1A0: "BOOTLOADER",
        0x1A4: "SHADOWVALID",
        0x198: "MISCCTRL",
        0x1B0: "SCRATCH0",
        0x1B4: "SCRATCH1",
        0x250: "TPIUCTRL",
        0x284: "KEXTCLKSEL",
        0x348: "SIMOBUCK1",
        0x34C: "SIMOBUCK2",
        0x350: "SIMOBUCK3",
        0x354: "SIMOBUCK4",
        0x36C: "BLEBUCK2",
        0x3A0: "FLASHWPROT0",
        0x1C8: "DMASRAMWRITEPROTECT0",
        0x264: "OTAPOINTER",
        0x280: "APBDMACTRL",
        0x288: "SRAMMODE",
        0x344: "SIMOBUCK0",
    }

    def __init__(self) -> None:
        super().__init__("MCUCTRL")

    def read(self, offset: int) -> int:
        if offset == CHIPREV:
            return _REVISION_B0
        if offset == SKU:
            return _ALL_ALLOWED
        if offset != FEATUREENABLE:
            return super().read(offset)
        requests = self.values.get(FEATUREENABLE, 0)
        answers = 0
        for bit in (_BLE, _BURST):
            answers |= (requests >> bit & 1) << bit + 1 | 1 << bit + 2
        return requests | answers

    def write(self, offset: int, value: int) -> None:
        if offset == FEATUREENABLE:
            self.values[offset] = value & (1 << _BLE | 1 << _BURST)
        else:
            super().write(offset, value)
