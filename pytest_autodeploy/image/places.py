"""Which memories the linker script of a board knows, and how data is put there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec


@dataclass(frozen=True)
class Places:
    """C++ attributes that put data into a memory of the board, by the catalog's memory names."""

    model: Mapping[str, str]
    arena: Mapping[str, str]
    inputs: str = ""


_SECTION = '__attribute__((section("{}")))'.format
_MACHINES = Places(  # the linker scripts of firmware/boards
    model={"mram": _SECTION(".model"), "psram": _SECTION(".model_external")},
    arena={"sram": _SECTION(".noinit"), "psram": _SECTION(".arena_external")},
    inputs=_SECTION(".noinit"),
)
_APOLLO3 = Places(  # neuralSPOT's: what has no section goes to SRAM
    model={"mram": "", "sram": _SECTION(".data.model")},
    arena={"sram": "", "dtcm": '__attribute__((section(".tcm.arena" AUTODEPLOY_NOBITS)))'},
)
_LATER_APOLLOS = Places(  # neuralSPOT's: what has no section goes to TCM
    model={"mram": "", "sram": _SECTION(".shared")},
    arena={"sram": _SECTION(".sram_bss"), "dtcm": ""},
    inputs=_SECTION(".sram_bss"),
)


def places_of(spec: BoardSpec) -> Places:
    """The memories that firmware for a board can use."""
    if not spec.has_sdk:
        return _MACHINES
    return _APOLLO3 if spec.soc.startswith("apollo3p") else _LATER_APOLLOS
