"""The example for AmbiqSuite, without neuralSPOT's own libraries: gcc, armclang, make and src."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import render
from pytest_autodeploy.deliver.gnu import CORE_FLAGS
from pytest_autodeploy.deliver.includes import included_files
from pytest_autodeploy.deliver.layout import layout_of

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.replace import Files
    from pytest_autodeploy.deliver.sources import Sources
    from pytest_autodeploy.image.trees import TflmTree

HEADERS = "src/tensorflow_headers"
INCLUDES = ("", "third_party/flatbuffers/include", "third_party/gemmlowp", "third_party/ruy")
"""The folders of a TFLM tree that its headers are included from."""

_DEFINES = {
    "apollo3p": ("AM_PART_APOLLO3P", "PART_APOLLO3P"),
    "apollo4p": ("AM_PART_APOLLO4P",),
    "apollo4l": ("AM_PART_APOLLO4L", "APOLLO4L_PRE_SDK"),
    "apollo510": ("AM_PART_APOLLO510", "AM_PART_APOLLO5B", "ARMCM55"),
    "apollo510b": ("AM_PART_APOLLO510B", "AM_PART_APOLLO510", "AM_PART_APOLLO5B", "ARMCM55"),
    "apollo330P": ("AM_PART_APOLLO330P", "PART_APOLLO330P", "ARMCM55"),
}
"""By which AmbiqSuite's headers know a chip."""

_LICENCES = ("LICENSE", "third_party/flatbuffers/LICENSE", "third_party/gemmlowp/LICENSE")


def files(sources: Sources) -> Files:
    """The files of the example; ``src/tensorflow_headers`` has those of the TFLM tree, if known."""
    source_files = sources.library() | sources.example("ambiqsuite")
    written: Files = {f"src/{name}": text for name, text in source_files.items()}
    context = _context(sources, source_files)
    templates = {
        "make/model.mk": "model.mk",
        "README.md": "ambiqsuite_README.md",
        "gcc/Makefile": "gcc_Makefile",
        "gcc/memory.ld": "memory.ld",
        "gcc/startup.c": "startup.c",
        "armclang/Makefile": "armclang_Makefile",
        "armclang/memory.sct": "memory.sct",
        "armclang/startup.c": "startup.c",
        f"{HEADERS}/README.md": "headers_README.md",
    }
    written |= {name: render(each, context, "deliver") for name, each in templates.items()}
    if sources.runtime:
        written |= _headers(sources.runtime, source_files.values())
    return written


def _context(sources: Sources, source_files: dict[str, str]) -> dict[str, object]:
    board, runtime = sources.board, sources.runtime
    return {
        "name": sources.name,
        "title": sources.model.name,
        "board": board,
        "layout": layout_of(board),
        "evb": board.name.partition("_")[2],
        "sources": sorted(name for name in source_files if name.endswith((".c", ".cc"))),
        "defines": _DEFINES[board.soc],
        "runtime": runtime.version if runtime else "",
        "tflm_lib": _library(runtime, board.core) if runtime else "",
        "includes": INCLUDES,
        "flags": CORE_FLAGS[board.core],
    }


def _library(runtime: TflmTree, core: str) -> str:
    """Where TFLM's library is in its tree."""
    return runtime.library(core, smallest=True).relative_to(runtime.root).as_posix()


def _headers(runtime: TflmTree, texts: Iterable[str]) -> Files:
    """What the sources include of the tree, under one folder, and its licences."""
    roots = [runtime.root / folder for folder in INCLUDES]
    found = included_files((text.encode() for text in texts), roots)
    licences = {
        name.replace("third_party/", "").replace("/LICENSE", ".LICENSE"): runtime.root / name
        for name in _LICENCES
        if (runtime.root / name).is_file()
    }
    return {f"{HEADERS}/{name}": path.read_bytes() for name, path in (found | licences).items()}
