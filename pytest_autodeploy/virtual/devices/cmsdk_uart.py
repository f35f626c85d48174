"""Arm's CMSDK UART, which holds one byte in each direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.registers import Context, Peripheral

DATA, STATE, CTRL, INTSTATUS, BAUDDIV = 0x00, 0x04, 0x08, 0x0C, 0x10
_RECEIVE_FULL = 1 << 1
_RECEIVE_INTERRUPT = 1 << 1
_CONTROL_RECEIVE_INTERRUPT = 1 << 3


class CmsdkUart(Peripheral):
    """A byte leaves at once; one that comes interrupts, when that is on."""

    NAMES: ClassVar[Mapping[int, str]] = {CTRL: "CTRL", BAUDDIV: "BAUDDIV"}

    def __init__(self, name: str, context: Context, interrupt: int, link: SerialLink) -> None:
        super().__init__(name)
        self._context = context
        self._interrupt = interrupt
        self._link = link
        link.arrived = self.update

    def read(self, offset: int) -> int:
        if offset == DATA:
            byte = self._link.take_byte()
            self.update()
            return byte
        if offset == STATE:
            return _RECEIVE_FULL if self._link.waiting else 0
        if offset == INTSTATUS:
            return _RECEIVE_INTERRUPT if self._interrupts else 0
        return super().read(offset)

    def write(self, offset: int, value: int) -> None:
        if offset == DATA:
            self._link.send_byte(value & 0xFF)
        elif offset != INTSTATUS:
            super().write(offset, value)
        self.update()

    @property
    def _interrupts(self) -> bool:
        asked = self.values.get(CTRL, 0) & _CONTROL_RECEIVE_INTERRUPT
        return bool(asked and self._link.waiting)

    def update(self) -> None:
        """Set the interrupt line to what it has to be."""
        self._context.raise_interrupt(self._interrupt, self._interrupts)
