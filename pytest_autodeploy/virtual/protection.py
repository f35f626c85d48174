"""The MPU of a Cortex-M4, as far as it forbids: regions of whole pages that may not be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pytest_autodeploy.catalog.chips import Region
from pytest_autodeploy.virtual.access import PAGE_BYTES, Span, outside

TYPE, CTRL, RNR, RBAR, RASR = 0xD90, 0xD94, 0xD98, 0xD9C, 0xDA0
REGIONS = 8
_ENABLED = 1
_READ_ONLY = (5, 6, 7)


class Protection:
    """Regions by number; the higher one decides, where no region is memory stays as it is.

    Regions smaller than a page of unicorn, or not aligned to one, do nothing. ``watch`` is told
    where an access may fail.
    """

    def __init__(
        self, uc: Any, memories: Sequence[Region], watch: Callable[[Iterable[Span]], None]
    ) -> None:
        self._uc = uc
        self._memories = memories
        self._watch = watch
        writable = [(each.base, each.base + each.bytes - 1) for each in memories if each.writable]
        self._never_free = tuple(outside(writable))
        self.reset()

    def reset(self) -> None:
        """Off."""
        self._control = self._number = 0
        self._regions = [(0, 0)] * REGIONS
        self._apply()

    def read(self, offset: int) -> int:
        """A register by its offset in the system control space."""
        base, attributes = self._regions[self._number]
        values = {TYPE: REGIONS << 8, CTRL: self._control, RNR: self._number}
        return {**values, RBAR: base | self._number, RASR: attributes}.get(offset, 0)

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        base, attributes = self._regions[self._number]
        if offset == CTRL:
            self._control = value & 7
        elif offset == RNR:
            self._number = value % REGIONS
        elif offset == RBAR:
            if value & 0x10:
                self._number = value & 7
                attributes = self._regions[self._number][1]
            self._regions[self._number] = (value & ~0x1F, attributes)
        elif offset == RASR:
            self._regions[self._number] = (base, value)
        if (offset in (CTRL, RASR) and self._control & _ENABLED) or offset == CTRL:
            self._apply()

    def _apply(self) -> None:
        import unicorn

        for memory in self._memories:
            write = unicorn.UC_PROT_WRITE if memory.writable else 0
            allowed = unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC | write
            self._uc.mem_protect(memory.base, memory.bytes, allowed)
        protected = list(self._pages()) if self._control & _ENABLED else []
        for base, size, attributes in protected:
            self._protect(base, size, attributes)
        closed = [(base, base + size - 1) for base, size, how in protected if not _is_free(how)]
        self._watch([*self._never_free, *closed])

    def _pages(self) -> Iterator[tuple[int, int, int]]:
        """Base, size and attributes of the regions that are pages."""
        for base, attributes in self._regions:
            size = 2 << (attributes >> 1 & 0x1F)
            if attributes & 1 and base % PAGE_BYTES == 0 and size % PAGE_BYTES == 0:
                yield base, size, attributes

    def _protect(self, base: int, size: int, attributes: int) -> None:
        import unicorn

        access = _access(attributes)
        for memory in self._memories:
            first = max(base, memory.base)
            last = min(base + size, memory.base + memory.bytes)
            if first >= last:
                continue
            read = access != 0
            write = read and access not in _READ_ONLY and memory.writable
            run = read and not attributes >> 28 & 1
            allowed = unicorn.UC_PROT_READ * read | unicorn.UC_PROT_WRITE * write
            self._uc.mem_protect(first, last - first, allowed | unicorn.UC_PROT_EXEC * run)


def _access(attributes: int) -> int:
    """Field AP of a region (Armv7-M ARM, B3.5.9)."""
    return attributes >> 24 & 7


def _is_free(attributes: int) -> bool:
    """Whether all may be loaded and stored there; a fetch that fails tells its address itself."""
    return _access(attributes) not in (0, *_READ_ONLY)
