"""Where the memories of a chip begin, for a linker script of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec


@dataclass(frozen=True)
class Memory:
    """A memory as a linker script names it."""

    name: str
    base: int
    bytes: int

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.base + self.bytes


@dataclass(frozen=True)
class Layout:
    """The memories of a chip: MRAM (flash on Apollo3) behind the bootloader, TCM and SRAM.

    ``default`` has what names no section, and the stack; ``interrupts`` are those beside the
    core's own.
    """

    memories: tuple[Memory, ...]
    default: str
    interrupts: int

    def memory(self, name: str) -> Memory:
        """One of them."""
        return next(each for each in self.memories if each.name == name)


_KB = 1024
# As neuralSPOT's linker scripts and vector tables (308c4e631) have them; of an Apollo3 Plus as its
# data sheet: 64 KB of TCM and 704 KB of SRAM behind it.
_RAM = {
    "apollo3p": (0x1000_0000, 64 * _KB, 0x1001_0000, 704 * _KB, "SRAM", 34),
    "apollo4p": (0x1000_0000, 384 * _KB, 0x1006_0000, 1024 * _KB, "TCM", 96),
    "apollo4l": (0x1000_0000, 384 * _KB, 0x1006_0000, 1024 * _KB, "TCM", 96),
    "apollo510": (0x2000_0000, 496 * _KB, 0x2008_0000, 3072 * _KB, "TCM", 160),
    "apollo510b": (0x2000_0000, 496 * _KB, 0x2008_0000, 3072 * _KB, "TCM", 160),
    "apollo330P": (0x2000_0000, 240 * _KB, 0x2008_0000, 1792 * _KB, "TCM", 160),
}


def layout_of(board: BoardSpec) -> Layout:
    """The memories of a board's chip."""
    tcm, tcm_bytes, sram, sram_bytes, default, interrupts = _RAM[board.soc]
    code = Memory("MRAM", board.load_address, board.memories["mram"].bytes)
    ram = (Memory("TCM", tcm, tcm_bytes), Memory("SRAM", sram, sram_bytes))
    return Layout((code, *ram), default, interrupts)
