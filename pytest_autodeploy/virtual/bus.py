"""The bus: which peripheral answers an address, and what is logged of those that nobody models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_autodeploy.virtual.core import Core
from pytest_autodeploy.virtual.devices.pages import Storage
from pytest_autodeploy.virtual.registers import Peripheral

PAGE = 0x1000
SPACES = ((0x4000_0000, 0x10_0000), (0xE000_0000, 0x10_0000))
"""Where peripherals are: what is there and not modelled keeps what is written, and is logged."""


class Bus:
    """Maps peripherals by their base address."""

    def __init__(
        self, core: Core, devices: Mapping[int, Peripheral], log: Callable[[str], None]
    ) -> None:
        self._core = core
        self._log = log
        self._pages: dict[int, tuple[Peripheral, int]] = {}
        self._told: set[tuple[str, int]] = set()
        for base, device in devices.items():
            device.unknown = self._unknown
            self._pages[base // PAGE] = (device, base % PAGE)
        outside = [base for base in devices if not _within(SPACES, base)]
        self._spaces = (*SPACES, *((base, PAGE) for base in outside))
        for base, size in self._spaces:
            core.uc.mmio_map(base, size, self._reader(base), None, self._writer(base), None)

    def load(self, address: int) -> int:
        """A word, of a memory or of a peripheral."""
        if self.is_peripheral(address):
            return self._read(address, 4)
        return int.from_bytes(self._core.uc.mem_read(address, 4), "little")

    def store(self, address: int, value: int) -> None:
        """Write a word."""
        if self.is_peripheral(address):
            self._write(address, 4, value)
        else:
            self._core.uc.mem_write(address, value.to_bytes(4, "little"))

    def is_peripheral(self, address: int) -> bool:
        """Whether registers are there, not a memory."""
        return _within(self._spaces, address)

    def _at(self, address: int) -> tuple[Peripheral, int]:
        page = address // PAGE
        found = self._pages.get(page)
        if found is None:
            device = Storage(f"0x{page * PAGE:08X}")
            device.unknown = self._unknown
            found = self._pages[page] = (device, 0)
        return found[0], address % PAGE - found[1]

    def _read(self, address: int, size: int) -> int:
        device, offset = self._at(address)
        if size == 4:
            return device.read(offset)
        word = device.read(offset & ~3)
        return word >> 8 * (offset & 3) & (1 << 8 * size) - 1

    def _write(self, address: int, size: int, value: int) -> None:
        device, offset = self._at(address)
        if (size < 4 and offset & 3) or (
            size < 4 and device.names.get(offset, "").startswith("IP")
        ):
            shift, mask = 8 * (offset & 3), (1 << 8 * size) - 1
            word = device.read(offset & ~3) & ~(mask << shift)
            device.write(offset & ~3, word | (value & mask) << shift)
        else:
            device.write(offset, value)

    def _reader(self, base: int) -> Callable[[Any, int, int, object], int]:
        def read(_uc: Any, offset: int, size: int, _data: object) -> int:
            return self._read(base + offset, size) if self._core.may_access() else 0

        return read

    def _writer(self, base: int) -> Callable[[Any, int, int, int, object], None]:
        def write(_uc: Any, offset: int, size: int, value: int, _data: object) -> None:
            if self._core.may_access():
                self._write(base + offset, size, value)

        return write

    def _unknown(self, name: str, offset: int) -> None:
        if (name, offset) not in self._told:
            self._told.add((name, offset))
            self._log(f"not modelled: {name}+0x{offset:03X} at 0x{self._core.pc:08X}")


def _within(spaces: Iterable[tuple[int, int]], address: int) -> bool:
    return any(base <= address < base + size for base, size in spaces)
