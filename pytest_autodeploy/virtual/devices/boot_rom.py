"""The helpers in the boot ROM of an Apollo3 Plus, which programs call by address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.virtual.core import Core

READ_WORD, WRITE_WORD, DELAY, DELAY_STATUS = 0x74, 0x78, 0x9C, 0xB0
_CYCLES_A_LOOP = 3
"""Of the ROM's delay: am_hal_flash_delay of AmbiqSuite counts loops of three cycles."""


class BootRom:
    """``load`` and ``store`` access the bus; ``delay`` lets cycles pass.

    The ROM's own code is not there: a call is answered when the core has come to its address.
    """

    def __init__(
        self,
        core: Core,
        base: int,
        load: Callable[[int], int],
        store: Callable[[int, int], None],
        delay: Callable[[int], None],
    ) -> None:
        self._core = core
        self._base = base
        self._load = load
        self._store = store
        self._delay = delay

    def call(self, address: int) -> bool:
        """Answer the call of an address; False when there is no helper."""
        first, second = self._core.register(0), self._core.register(1)
        match address - self._base:
            case helper if helper == READ_WORD:
                self._core.set_register(0, self._load(first))
            case helper if helper == WRITE_WORD:
                self._store(first, second)
            case helper if helper == DELAY:
                self._delay(_CYCLES_A_LOOP * first)
            case _:
                return False
        self._core.set_register(15, self._core.register(14) | 1)
        return True
