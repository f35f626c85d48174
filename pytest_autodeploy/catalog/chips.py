"""The chips whose images a virtual board runs, from ``virtual.toml``."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.catalog.entry import Entry

TABLE = Path(__file__).with_name("virtual.toml")


@dataclass(frozen=True)
class Region:
    """A memory; what is not ``writable`` faults when it is written."""

    name: str
    base: int
    bytes: int
    writable: bool


@dataclass(frozen=True)
class Device:
    """A peripheral: the kind of its model, and its interrupt, the first of several."""

    kind: str
    name: str
    base: int
    interrupt: int


@dataclass(frozen=True)
class Chip:
    """What a machine consists of; ``clock`` is the mode that it starts in.

    ``instruction_ns`` is the time of an instruction where that is not a period of the clock,
    ``boot_rom`` where the helpers are that programs call there. ``tried``: an image has run on it.
    """

    name: str
    title: str
    tried: bool
    vectors: int
    clocks_hz: Mapping[str, int]
    clock: str
    instruction_ns: int | None
    boot_rom: int | None
    memories: tuple[Region, ...]
    devices: tuple[Device, ...]


def chip_names() -> tuple[str, ...]:
    """The chips of the table."""
    return tuple(_chips())


def find_chip(name: str) -> Chip | None:
    """The chip of that name, None when it cannot be virtual."""
    return _chips().get(name)


@functools.cache
def _chips() -> Mapping[str, Chip]:
    return read_chips(TABLE.read_text(encoding="utf-8"))


def read_chips(text: str) -> dict[str, Chip]:
    """The chips of a table in TOML. Raises CatalogError naming entry and key."""
    return {name: _chip(name, raw) for name, raw in tomllib.loads(text)["chip"].items()}


def _chip(name: str, raw: Mapping[str, Any]) -> Chip:
    entry = Entry(f"chip.{name}", raw)
    clocks = entry.table("clocks_hz")
    modes = tuple(clocks.raw)
    return Chip(
        name=name,
        title=entry.text("title"),
        tried=bool(raw.get("tried")),
        vectors=entry.whole("vectors", 0),
        clocks_hz={mode: clocks.whole(mode, 1) for mode in modes},
        clock=entry.one_of("clock", modes),
        instruction_ns=entry.whole("instruction_ns", 1) if entry.has("instruction_ns") else None,
        boot_rom=entry.whole("boot_rom", 0) if entry.has("boot_rom") else None,
        memories=tuple(_region(name, each) for each in raw["memories"]),
        devices=tuple(_device(name, each) for each in raw["devices"]),
    )


def _region(chip: str, raw: Mapping[str, Any]) -> Region:
    entry = Entry(f"chip.{chip}.memories", raw)
    name, base, size = entry.text("name"), entry.whole("base", 0), entry.whole("bytes", 4096)
    return Region(name, base, size, bool(raw["writable"]))


def _device(chip: str, raw: Mapping[str, Any]) -> Device:
    entry = Entry(f"chip.{chip}.devices", raw)
    kind = entry.text("kind")
    name = entry.text("name") if entry.has("name") else kind.upper()
    interrupt = entry.whole("interrupt", 0) if entry.has("interrupt") else 0
    return Device(kind, name, entry.whole("base", 0), interrupt)
