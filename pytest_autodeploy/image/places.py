"""Which memories firmware can use on a board, and how data is put there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec


@dataclass(frozen=True)
class Outside:
    """A memory outside of the chip: the linker's section for it, and where it begins."""

    section: str
    base: int


@dataclass(frozen=True)
class Places:
    """C++ attributes that put data into a memory of the board, by the catalog's memory names.

    ``copied_from`` has the model of an image whatever memory it is put into at the start; empty
    when what loads an image puts it there. A model that comes over the link has the attribute of an
    arena, which has no content in the image either. ``outside`` are memories of which neuralSPOT's
    linker scripts know nothing, and which the firmware starts.
    """

    model: Mapping[str, str]
    arena: Mapping[str, str]
    inputs: str = ""
    copied_from: str = ""
    outside: Mapping[str, Outside] = field(default_factory=dict)
    loaded: Mapping[str, str] = field(default_factory=dict)
    """For models that the host loads into a memory where no arena can be."""


_SECTION = '__attribute__((section("{}")))'.format
_MACHINES = Places(  # the linker scripts of firmware/boards
    model={"mram": _SECTION(".model"), "psram": _SECTION(".model_external")},
    arena={"sram": _SECTION(".noinit"), "psram": _SECTION(".arena_external")},
    inputs=_SECTION(".noinit"),
    loaded={"mram": _SECTION(".model_loaded")},
)
_NOBITS = '__attribute__((section("{}" AUTODEPLOY_NOBITS)))'.format
_APOLLO3 = Places(  # neuralSPOT's: what has no section goes to SRAM
    model={"mram": "", "sram": _SECTION(".data.model"), "dtcm": _SECTION(".tcm.model")},
    arena={"sram": "", "dtcm": _NOBITS(".tcm.arena")},
    copied_from="mram",
)
_LATER_MODEL = {"mram": "", "sram": _SECTION(".shared"), "dtcm": _SECTION(".data.model")}
_LATER_ARENA = {"sram": _SECTION(".sram_bss"), "dtcm": ""}
_LATER_APOLLOS = Places(  # neuralSPOT's: what has no section goes to TCM
    model=_LATER_MODEL,
    arena=_LATER_ARENA,
    inputs=_SECTION(".sram_bss"),
    copied_from="mram",
)
_APOLLO510 = Places(  # ns_psram.c has its PSRAM at the first MSPI, AutoDeploy its NVM at the second
    model={**_LATER_MODEL, "psram": _NOBITS(".psram"), "nvm": _NOBITS(".nvm")},
    arena={**_LATER_ARENA, "psram": _NOBITS(".psram")},
    inputs=_SECTION(".sram_bss"),
    copied_from="mram",
    outside={"psram": Outside(".psram", 0x6000_0000), "nvm": Outside(".nvm", 0x8000_0000)},
)


def places_of(spec: BoardSpec) -> Places:
    """The memories that firmware for a board can use."""
    if not spec.has_sdk:
        return _MACHINES
    if spec.soc.startswith("apollo3p"):
        return _APOLLO3
    return _APOLLO510 if spec.soc.startswith("apollo510") else _LATER_APOLLOS
