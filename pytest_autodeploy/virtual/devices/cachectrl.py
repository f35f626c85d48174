"""CACHECTRL of an Apollo3 Plus: the cache is always ready and counts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.registers import Peripheral

CTRL = 0x08
_READY = 1 << 2


class Cachectrl(Peripheral):
    """There is no cache here, so what its monitor counted would be made up: it stays 0."""

    NAMES: ClassVar[Mapping[int, str]] = {
        0x00: "CACHECFG",
        0x04: "FLASHCFG",
        CTRL: "CTRL",
        0x10: "NCR0START",
        0x14: "NCR0END",
        0x18: "NCR1START",
        0x1C: "NCR1END",
        **{0x40 + 4 * number: f"DMON{number}" for number in range(4)},
        **{0x50 + 4 * number: f"IMON{number}" for number in range(4)},
    }

    def __init__(self) -> None:
        super().__init__("CACHECTRL")

    def read(self, offset: int) -> int:
        return super().read(offset) | (_READY if offset == CTRL else 0)
