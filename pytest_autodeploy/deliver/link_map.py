"""GNU ld's map files: which input sections ended up in which output sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pytest_autodeploy.deliver.elf import ElfSection
from pytest_autodeploy.image.errors import BuildError

_START = "Linker script and memory map"
_END = re.compile(r"OUTPUT\(.*\)$")
_PLACE = r"\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)"
_OUTPUT = re.compile(rf"(?P<name>\S+){_PLACE}(?: load address 0x(?P<load>[0-9a-f]+))?$")
_INPUT = re.compile(rf" (?P<name>[^\s*]\S*){_PLACE} (?P<file>\S.*)$")
_FILL = re.compile(rf" \*fill\*{_PLACE} ?\w*$")
_DATA = re.compile(rf"{_PLACE} (?:BYTE|SHORT|LONG|S?QUAD) ")
_NAME_ALONE = re.compile(r" ?[^\s*]\S*$")
_ARCHIVE = re.compile(r"(?P<archive>.*)\((?P<member>[^()]+)\)$")

_UNKNOWN_LINKER = "the linker may be of a version that is not known: `autodeploy doctor` tells it"


@dataclass(frozen=True)
class InputSection:
    """Bytes of an output section: from an object, or what the linker and its script added.

    ``archive`` is "" for an object of its own; ``member`` is "" for padding and data of the script.
    """

    name: str
    address: int
    bytes: int
    archive: str = ""
    member: str = ""


@dataclass(frozen=True)
class OutputSection:
    """A section of the program; ``load_address`` differs where start-up code copies it.

    The ``inputs`` fill it without gaps. Strings that the linker merged count for the objects
    between whose starts they are.
    """

    name: str
    address: int
    bytes: int
    load_address: int
    inputs: tuple[InputSection, ...]


def read_link_map(text: str, program: Sequence[ElfSection]) -> list[OutputSection]:
    """The output sections of a program in memory, in its order.

    Raises BuildError when the text is not a whole map file, is that of another program, or does
    not account for every byte.
    """
    found = _read(text)
    return [_check(found.get(section.name), section) for section in program if section.bytes]


def _read(text: str) -> dict[str, OutputSection]:
    sections: dict[str, OutputSection] = {}
    head: re.Match[str] | None = None
    inputs: list[InputSection] = []
    for line in _lines(text):
        if start := _OUTPUT.match(line):
            _keep(sections, head, inputs)
            head, inputs = start, []
        elif head and (part := _input(line)):
            inputs.append(part)
    _keep(sections, head, inputs)
    return sections


def _lines(text: str) -> Iterator[str]:
    """The lines of the memory map; a name that stands alone is joined with what follows it."""
    _, start, body = text.partition(_START)
    lines = body.splitlines()
    end = next((index for index, line in enumerate(lines) if _END.match(line)), None)
    if not start or end is None:
        missing = "its end" if start else f"the heading {_START!r}"
        raise BuildError(f"the linker's map is damaged: {missing} is missing", hint=_UNKNOWN_LINKER)
    alone = ""
    for line in lines[:end]:
        if alone and line.startswith(" " * 8):
            line = alone + line
        alone = line if _NAME_ALONE.match(line) else ""
        yield line


def _input(line: str) -> InputSection | None:
    if found := _FILL.match(line) or _DATA.match(line):
        return InputSection("", int(found["address"], 16), int(found["size"], 16))
    found = _INPUT.match(line)
    if found is None:
        return None
    file = _ARCHIVE.match(found["file"])
    archive, member = (file["archive"], file["member"]) if file else ("", found["file"])
    address, size = int(found["address"], 16), int(found["size"], 16)
    return InputSection(found["name"], address, size, archive, member)


def _keep(
    sections: dict[str, OutputSection], head: re.Match[str] | None, inputs: Sequence[InputSection]
) -> None:
    if head is not None:
        address = int(head["address"], 16)
        load = int(head["load"], 16) if head["load"] else address
        size = int(head["size"], 16)
        section = OutputSection(head["name"], address, size, load, tuple(inputs))
        sections[section.name] = section


def _check(section: OutputSection | None, program: ElfSection) -> OutputSection:
    there = section and (section.address, section.bytes)
    if section is None or there != (program.address, program.bytes):
        raise BuildError(
            f"the linker's map is that of another program: {program.name} differs",
            hint="two runs may have built in one folder: run again",
        )
    return replace(section, inputs=tuple(_without_overlaps(section)))


def _without_overlaps(section: OutputSection) -> list[InputSection]:
    """The inputs, each up to the start of the next. Raises BuildError where none of them is."""
    after = InputSection("", section.address + section.bytes, 0)
    used = (part for part in section.inputs if part.bytes)
    parts = [*sorted(used, key=lambda part: part.address), after]
    gap = parts[0].address != section.address
    for part, following in pairwise(parts):
        gap = gap or part.address + part.bytes < following.address
    if gap:
        raise BuildError(
            f"the linker's map is damaged: it does not say what all of {section.name} is",
            hint=_UNKNOWN_LINKER,
        )
    cut = [
        replace(part, bytes=min(part.bytes, following.address - part.address))
        for part, following in pairwise(parts)
    ]
    return [part for part in cut if part.bytes > 0]
