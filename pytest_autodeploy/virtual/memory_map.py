"""What a core finds at its addresses: memories with an image, and the helpers of the boot ROM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pytest_autodeploy.virtual.devices.boot_rom import BootRom
from pytest_autodeploy.virtual.protection import Protection
from pytest_autodeploy.virtual.unmask import watch

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.chips import Region
    from pytest_autodeploy.virtual.bus import Bus
    from pytest_autodeploy.virtual.core import Core
    from pytest_autodeploy.virtual.image_file import ImageFile

_ROM_BYTES = 0x1_0000
_ROM_CODE = b"\x00\xbe"  # bkpt: a call of the ROM stops the core


def map_memories(
    core: Core, memories: Iterable[Region], image: ImageFile, unmasked: Callable[[], None]
) -> Protection:
    """Map memories and load an image; gives what protects them.

    ``unmasked`` is called behind an instruction of the image that may unmask interrupts.
    """
    import unicorn

    memories = tuple(memories)
    for memory in memories:
        core.uc.mem_map(memory.base, memory.bytes, unicorn.UC_PROT_ALL)
    for address, data in image.pieces:
        core.uc.mem_write(address, data)
    watch(core.uc, image.pieces, unmasked)
    return Protection(core.uc, memories, core.bad_accesses.watch)


def map_rom(core: Core, base: int | None, bus: Bus, delay: Callable[[int], None]) -> BootRom | None:
    """Map the helpers of a chip's boot ROM, None when its programs call none."""
    import unicorn

    if base is None:
        return None
    core.uc.mem_map(base, _ROM_BYTES, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
    core.uc.mem_write(base, _ROM_CODE * (_ROM_BYTES // len(_ROM_CODE)))
    return BootRom(core, base, bus.load, bus.store, delay)
