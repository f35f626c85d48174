"""Maps of GNU ld: what is read from them, and that every byte is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.deliver.elf import ElfSection, read_sections
from pytest_autodeploy.deliver.link_map import OutputSection, read_link_map
from pytest_autodeploy.image.errors import BuildError
from tests.helpers.deliver_builds import run
from tests.helpers.emulation import needs_compiler

MAP = """\
Archive member included to satisfy reference by file (symbol)

libkws.a(kws.o)               main.o (kws_init)

Discarded input sections

 .text.unused   0x00000000       0x40 main.o

Memory Configuration

Name             Origin             Length             Attributes
CODE             0x00001000         0x003ff000         xr
*default*        0x00000000         0xffffffff

Linker script and memory map

LOAD main.o
LOAD libkws.a
START GROUP
LOAD /usr/lib/libc.a
END GROUP

.text           0x00001000       0x74
 *(.text .text.*)
 .text.main     0x00001000       0x12 main.o
                0x00001000                main
 *fill*         0x00001012        0x2 00
 .text.a_name_that_is_too_long_for_its_column
                0x00001014       0x20 libkws.a(kws.o)
                0x00001014                kws_init
 .rodata.str1.4
                0x00001034       0x30 main.o
                                 0x34 (size before relaxing)
 .rodata.str1.4
                0x00001054       0x1c folder (old)/libc.a(printf.o)
                0x00001070        0x4 LONG 0x20000000 data_start

.unused         0x00001074        0x0

.data           0x20000000        0x8 load address 0x00001074
 *(.data .data.*)
 .data.state    0x20000000        0x8 libkws.a(kws.o)

.bss            0x20000008       0x10 load address 0x0000107c
 COMMON         0x20000008        0x4 main.o
 *fill*         0x2000000c        0x4 \n\
 .bss           0x20000010        0x8 main.o

.stack          0x20000020      0x100
                0x20000120                . = (. + 0x100)
 *fill*         0x20000020      0x100 \n\
OUTPUT(kws.elf elf32-littlearm)

.comment        0x00000000       0x26
 .comment       0x00000000       0x27 main.o
"""
SECTIONS = [
    ElfSection(".text", 0x1000, 0x74, loaded=True),
    ElfSection(".data", 0x20000000, 8, loaded=True),
    ElfSection(".bss", 0x20000008, 0x10, loaded=False),
    ElfSection(".stack", 0x20000020, 0x100, loaded=False),
]
MAIN = """
extern "C" int kernel(int);
int zeroed[100];
int initialised[3] = {1, 2, 3};
const char *words() { return "the same words"; }
extern "C" int unused() { return 5; }
extern "C" int main() { return kernel(zeroed[3] + initialised[1]) + words()[2]; }
"""
KERNEL = """
const char *more_words() { return "more than the same words"; }
extern "C" int kernel(int of) { return of + more_words()[of]; }
"""
SCRIPT = """
SECTIONS
{
    .text 0x1000 : { *(.text .text.*) . = ALIGN(16); LONG(0x12345678) *(.rodata .rodata.*) }
    .data 0x20000000 : AT(LOADADDR(.text) + SIZEOF(.text)) { *(.data .data.*) }
    .bss : { *(.bss .bss.* COMMON) }
    .stack : { . = . + 512; }
}
"""


@pytest.fixture
def sections() -> dict[str, OutputSection]:
    return {section.name: section for section in read_link_map(MAP, SECTIONS)}


def test_names_on_a_line_of_their_own_belong_to_what_follows(
    sections: dict[str, OutputSection],
) -> None:
    kernel = sections[".text"].inputs[2]

    assert (kernel.name, kernel.bytes) == (".text.a_name_that_is_too_long_for_its_column", 0x20)


def test_members_of_archives_are_told_from_objects(sections: dict[str, OutputSection]) -> None:
    files = [(part.archive, part.member) for part in sections[".text"].inputs if part.member]

    assert files == [
        ("", "main.o"),
        ("libkws.a", "kws.o"),
        ("", "main.o"),
        ("folder (old)/libc.a", "printf.o"),
    ]


def test_merged_strings_count_once(sections: dict[str, OutputSection]) -> None:
    strings = [part.bytes for part in sections[".text"].inputs if "str1" in part.name]

    assert strings == [0x20, 0x1C]


def test_padding_and_data_of_the_script_belong_to_no_object(
    sections: dict[str, OutputSection],
) -> None:
    parts = [part for section in sections.values() for part in section.inputs]

    assert [part.bytes for part in parts if not part.member] == [2, 4, 4, 0x100]


def test_common_symbols_count_for_their_object(sections: dict[str, OutputSection]) -> None:
    assert [part.bytes for part in sections[".bss"].inputs if part.member == "main.o"] == [4, 8]


def test_initialised_data_is_loaded_elsewhere(sections: dict[str, OutputSection]) -> None:
    data, text = sections[".data"], sections[".text"]

    assert (data.address, data.load_address) == (0x20000000, 0x1074)
    assert text.load_address == text.address


def test_what_was_discarded_does_not_count(sections: dict[str, OutputSection]) -> None:
    assert not any(
        part.name == ".text.unused" for section in sections.values() for part in section.inputs
    )


def test_the_parts_of_every_section_add_up(sections: dict[str, OutputSection]) -> None:
    for section in sections.values():
        assert sum(part.bytes for part in section.inputs) == section.bytes


LINES = MAP.splitlines(keepends=True)


@pytest.mark.parametrize("lost", [" *fill*         0x00001012", ".data           ", " COMMON "])
def test_a_line_that_is_lost_is_noticed(lost: str) -> None:
    damaged = "".join(line for line in LINES if not line.startswith(lost))

    with pytest.raises(BuildError, match="map"):
        read_link_map(damaged, SECTIONS)


@pytest.mark.parametrize("kept", range(0, MAP.index("OUTPUT("), 97))
def test_a_map_that_breaks_off_is_damaged(kept: int) -> None:
    with pytest.raises(BuildError, match=r"the linker's map is damaged: .* is missing"):
        read_link_map(MAP[:kept], SECTIONS)


def test_the_map_of_another_program_is_refused() -> None:
    other = [ElfSection(".text", 0x1000, 0x78, loaded=True)]

    with pytest.raises(BuildError, match=r"that of another program: \.text differs"):
        read_link_map(MAP, other)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that the real linker made, with its map beside it."""
    for name, text in (("main.cc", MAIN), ("kernel.cc", KERNEL), ("layout.ld", SCRIPT)):
        (tmp_path / name).write_text(text)
    flags = ("-mcpu=cortex-m4", "-mthumb", "-O1", "-fno-exceptions")
    run(tmp_path, "g++", *flags, "-c", "main.cc", "kernel.cc")
    run(tmp_path, "ar", "rc", "libkernel.a", "kernel.o")
    run(tmp_path, "ld", "-Tlayout.ld", "-Map=a.map", "-o", "a.elf", "main.o", "libkernel.a")
    return tmp_path / "a.elf"


@needs_compiler
def test_a_real_map_accounts_for_every_byte_of_its_program(program: Path) -> None:
    sections = read_link_map(program.with_suffix(".map").read_text(), read_sections(program))

    assert {section.name for section in sections} >= {".text", ".data", ".bss", ".stack"}
    for section in sections:
        assert sum(part.bytes for part in section.inputs) == section.bytes


@needs_compiler
def test_a_real_program_has_the_sections_that_size_reports(program: Path) -> None:
    lines = run(program.parent, "size", "-A", program.name).splitlines()
    told = {line.split()[0]: line.split()[1] for line in lines if line.startswith(".")}

    sections = read_sections(program)

    assert sections
    for section in sections:
        assert told[section.name] == str(section.bytes)


def test_something_else_is_no_elf_file(tmp_path: Path) -> None:
    (tmp_path / "a.elf").write_bytes(b"MZ" * 100)

    with pytest.raises(BuildError, match=r"a\.elf is not a 32-bit little-endian ELF file"):
        read_sections(tmp_path / "a.elf")


def test_an_elf_file_whose_headers_are_cut_off_is_damaged(tmp_path: Path) -> None:
    header = b"\x7fELF\x01\x01" + bytes(26) + (4000).to_bytes(4, "little") + bytes(12)
    (tmp_path / "a.elf").write_bytes(header + b"\x05\x00\x04\x00")

    with pytest.raises(BuildError, match=r"a\.elf is damaged"):
        read_sections(tmp_path / "a.elf")
