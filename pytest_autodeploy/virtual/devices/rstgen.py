"""RSTGEN of an Apollo3 Plus: why the chip was reset last."""

from __future__ import annotations

from pytest_autodeploy.virtual.registers import Peripheral

STAT = 0x000
PORSTAT, SWRSTAT = 1 << 1, 1 << 3


class Rstgen(Peripheral):
    """Its status register, which lies in a page of its own: power on, then by software."""

    def __init__(self) -> None:
        super().__init__("RSTGEN")
        self._status = 0

    def reset(self) -> None:
        super().reset()
        self._status = SWRSTAT if self._status else PORSTAT

    def read(self, offset: int) -> int:
        return self._status if offset == STAT else super().read(offset)
