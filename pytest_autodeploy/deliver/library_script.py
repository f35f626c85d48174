"""The linker script of a library, by which its sections are named after the parts they belong to.

So the map of any program that the library is linked into says what each part takes.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_autodeploy.deliver.parts import ARENA, MODEL, part_of_object, section_suffix

MODEL_DATA = "_model_data.o"

_SECTIONS = {
    ".text": ".text .text.*",
    ".rodata": ".rodata .rodata.*",
    ".data": ".data .data.*",
    ".bss": ".bss .bss.* COMMON",
}


def library_script(objects: Iterable[str], members: Iterable[str]) -> str:
    """The script for a model's own ``objects`` and the ``members`` of TFLM's library.

    Sections with other names than the usual ones keep them: initialisers, and what is placed in a
    memory of the board. The rest of the model's own sections is its interface. Unwind tables, which
    belong to single functions, go: nothing here throws.
    """
    files: dict[str, list[str]] = {}
    for member in sorted(set(members)):
        files.setdefault(part_of_object(member), []).append(f"*:{member}")
    rules = [_rule(".rodata", MODEL, [file for file in objects if file.endswith(MODEL_DATA)])]
    rules += [_rule(".bss", ARENA, objects, ".bss.*arena*")]
    rules += [_rule(kind, part, of_part) for part, of_part in files.items() for kind in _SECTIONS]
    rules.append("    /DISCARD/ : { *(.ARM.exidx* .ARM.extab*) }")
    return "\n".join(["SECTIONS", "{", *rules, "}", ""])


def _rule(kind: str, part: str, files: Iterable[str], sections: str = "") -> str:
    patterns = " ".join(f"{file}({sections or _SECTIONS[kind]})" for file in files)
    return f"    {kind}{section_suffix(part)} 0 : {{ {patterns} }}"
