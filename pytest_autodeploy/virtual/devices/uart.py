"""The UART of Ambiq's chips, which is Arm's PL011, and its FIFOs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.registers import Context, Peripheral

DR, FR, IFLS, IER, IES, MIS, IEC = 0x00, 0x18, 0x34, 0x38, 0x3C, 0x40, 0x44
FIFO_BYTES = 32
_RECEIVE_EMPTY, _SEND_EMPTY = 1 << 4, 1 << 7
_RECEIVED, _RECEIVE_TIMEOUT, _SENT = 1 << 4, 1 << 6, 1 << 5


class Uart(Peripheral):
    """Bytes leave at once; of those that come, as many wait outside as its FIFO has no room for.

    The receive timeout fires with the level, whatever is there.
    """

    NAMES: ClassVar[Mapping[int, str]] = {
        0x04: "RSR",
        0x20: "ILPR",
        0x24: "IBRD",
        0x28: "FBRD",
        0x2C: "LCRH",
        0x30: "CR",
        IFLS: "IFLS",
        IER: "IER",
    }

    def __init__(self, name: str, context: Context, interrupt: int, link: SerialLink) -> None:
        super().__init__(name)
        self._context = context
        self._interrupt = interrupt
        self._link = link
        link.arrived = self.update

    def read(self, offset: int) -> int:
        if offset == DR:
            byte = self._link.take_byte()
            self.update()
            return byte
        if offset == FR:
            return _SEND_EMPTY | (0 if self._link.waiting else _RECEIVE_EMPTY)
        if offset == IES:
            return self._raw
        if offset == MIS:
            return self._raw & self.values.get(IER, 0)
        return super().read(offset)

    def write(self, offset: int, value: int) -> None:
        if offset == DR:
            self._link.send_byte(value & 0xFF)
        elif offset != IEC:  # the causes are levels
            super().write(offset, value)
        self.update()

    @property
    def _raw(self) -> int:
        return _RECEIVED | _RECEIVE_TIMEOUT if self._link.waiting else 0

    def update(self) -> None:
        """Set the interrupt line to what it has to be."""
        self._context.raise_interrupt(self._interrupt, bool(self._raw & self.values.get(IER, 0)))
