"""Flash and RAM of a program by part: model, kernels, runtime, arena and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.deliver.elf import ElfSection, read_sections
from pytest_autodeploy.deliver.link_map import InputSection, OutputSection, read_link_map
from pytest_autodeploy.deliver.parts import ARENA, in_order, part_of_file, part_of_section


@dataclass(frozen=True)
class PartSize:
    """What one part takes; initialised data takes both flash and RAM."""

    part: str
    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True)
class Footprint:
    """The parts of ``what``: "library", or "example" for a whole program with the library.

    The figures are exact: those of a program are from its linker's map and add up to its sections,
    those of a library are its sections before they are aligned in a program.
    """

    what: str
    parts: tuple[PartSize, ...]

    @property
    def flash_bytes(self) -> int:
        """Bytes of the image."""
        return sum(size.flash_bytes for size in self.parts)

    @property
    def ram_bytes(self) -> int:
        """Bytes of RAM that are taken before the program starts."""
        return sum(size.ram_bytes for size in self.parts)


def library_footprint(member: Path) -> Footprint:
    """The parts of a library, from the one object that it consists of. Raises BuildError."""
    return _footprint("library", [_of_library(section) for section in read_sections(member)])


def program_footprint(program: Path, link_map: Path, libraries: Sequence[str]) -> Footprint:
    """The parts of a linked program that uses ``libraries``, by their file names.

    Raises BuildError when the map is damaged or does not belong to the program.
    """
    sections = read_sections(program)
    loaded = {section.name: section.loaded for section in sections}
    text = link_map.read_text(encoding="utf-8", errors="replace")
    return _footprint(
        "example",
        [
            _of_program(part, output, loaded[output.name], libraries)
            for output in read_link_map(text, sections)
            for part in output.inputs
        ],
    )


def _of_library(section: ElfSection) -> tuple[str, int, int]:
    part = part_of_section(section.name, constant=not section.writable)
    loaded = section.loaded and part != ARENA  # linker scripts load none that lies elsewhere
    in_ram = part == ARENA or not section.loaded or section.name.startswith(".data")
    return part, section.bytes if loaded else 0, section.bytes if in_ram else 0


def _of_program(
    part: InputSection, output: OutputSection, loaded: bool, libraries: Sequence[str]
) -> tuple[str, int, int]:
    copied = output.load_address != output.address
    if part.archive and Path(part.archive).name in libraries:
        name = part_of_section(part.name, constant=loaded)
    else:
        name = part_of_file(part.archive, part.member, output.name)
    return name, part.bytes if loaded else 0, part.bytes if copied or not loaded else 0


def _footprint(what: str, pieces: Iterable[tuple[str, int, int]]) -> Footprint:
    """Add up (part, flash bytes, RAM bytes)."""
    flash: Counter[str] = Counter()
    ram: Counter[str] = Counter()
    for part, flash_bytes, ram_bytes in pieces:
        flash[part] += flash_bytes
        ram[part] += ram_bytes
    order = in_order(flash)
    return Footprint(what, tuple(PartSize(part, flash[part], ram[part]) for part in order))
