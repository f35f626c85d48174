"""The catalog of boards: memories, clocks, ports, probe and pins of each, from catalog.toml."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.catalog.entry import CatalogError, Entry

CATALOG = Path(__file__).with_name("catalog.toml")

Core = Literal["cortex-m4f", "cortex-m55"]
Transport = Literal["usb", "uart", "socket"]
Part = Literal["board", "machine", "virtual", "recording", "place"]
"""Of the catalog; "virtual" are those of both whose chips can be virtual, and a "recording" is in
none."""

CORES: tuple[Core, ...] = ("cortex-m4f", "cortex-m55")
TRANSPORTS: tuple[Transport, ...] = ("usb", "uart")  # of hardware
MEMORIES = ("mram", "sram", "dtcm", "itcm", "psram", "nvm")
CLOCK_MODES = ("LP", "HP")
PINS = ("in0", "in1", "trigger")
IO_VOLTAGES = (1.8, 2.1, 2.5, 2.7, 3.0, 3.3, 3.6, 5.0)
"""Levels of pins in volts, as a Joulescope JS110 can be set to: joulescope's ``io_voltage``."""

INHERITED = ("core", "memory", "clocks_hz", "jlink", "counters")
"""What a chip can take from another one with ``like``."""


_WORDS: Mapping[Part, str] = {
    "board": "board",
    "machine": "emulated board",
    "virtual": "virtual board",
    "recording": "recording",
    "place": "board of a lab",
}


_ALL = "autodeploy boards lists what there is."


class UnknownBoard(AutodeployError):
    """No board of that name is in the catalog."""


class RefusedBoard(UnknownBoard):
    """The SDK names the board and cannot build for it."""


@dataclass(frozen=True)
class Memory:
    """One memory in bytes: what firmware can use, and what of it firmware and system keep."""

    bytes: int
    reserved: int

    @property
    def usable(self) -> int:
        """Bytes that are left for a model and its arena."""
        return self.bytes - self.reserved


@dataclass(frozen=True)
class BoardSpec:
    """What is known of a board; ``sources`` and ``disagreements`` go by group: ``memory.sram``.

    ``part`` is where the catalog has it. It says nothing of the kind of a board that a test runs
    on: a simulated one has the entry of the board that it stands for.
    A machine of QEMU has no SDK, probe, USB, power pins or counters: these are empty, or 0.
    """

    name: str
    title: str
    part: Part
    soc: str
    core: Core
    memories: Mapping[str, Memory]  # by the names in MEMORIES
    clocks_hz: Mapping[str, int]  # "LP" and "HP"; a mode that does not exist is absent
    transport: Transport  # of `transports`, the one that is used
    transports: tuple[Transport, ...]  # of the firmware, the usual one first; a machine has none
    usb_vid: int
    usb_pid: int | None  # None: any product of the vendor
    ambiqsuite: str  # version that neuralSPOT builds this board with
    jlink_device: str
    load_address: int
    power_pins: Mapping[str, int]  # GPIO numbers of "in0", "in1" and "trigger"
    app_pins: Mapping[str, int]  # those of the power application, which has no link
    io_voltage: float  # of these pins, in volts
    counters: tuple[str, ...]  # per-layer counters of the real board
    sources: Mapping[str, str]
    disagreements: Mapping[str, str]

    @property
    def has_sdk(self) -> bool:
        """Whether neuralSPOT, the SDK of the EVBs, makes programs for it; else GNU's tools do."""
        return bool(self.ambiqsuite)

    @property
    def chip(self) -> str:
        """The name of its chip in the table of those that can be virtual."""
        return self.soc or self.name

    def is_of(self, part: Part) -> bool:
        """Whether it is in a part of the catalog."""
        return part == self.part or (part == "virtual" and find_chip(self.chip) is not None)


def board_names(part: Part = "board") -> tuple[str, ...]:
    """Names of all boards of a part of the catalog, in its order."""
    return tuple(name for name, spec in _boards().items() if spec.is_of(part))


def catalog_specs() -> tuple[BoardSpec, ...]:
    """Every board of the catalog, in its order: EVBs, then machines."""
    return tuple(_boards().values())


def board_spec(name: str, part: Part = "board") -> BoardSpec:
    """The board of that name. Raises UnknownBoard, with the name that may have been meant."""
    spec = _boards().get(name)
    if spec is None or not spec.is_of(part):
        _require_known(name)
        near = closest(name, part)
        meant = f"Did you mean {near}? " if near else ""
        raise UnknownBoard(
            f"unknown {_WORDS[part]} {name!r}",
            hint=f"{meant}{_WORDS[part].capitalize()}s: {', '.join(board_names(part))}",
        )
    return spec


def _require_known(name: str) -> None:
    """Raise RefusedBoard for a board that the SDK names, with the reason why it is not here."""
    known = {each.lower(): (each, why) for each, why in _refused().items()}
    if name.lower() in known:
        each, why = known[name.lower()]
        raise RefusedBoard(f"no firmware can be built for {each}: {why}", hint=_ALL)


@functools.cache
def _refused() -> Mapping[str, str]:
    return dict(tomllib.loads(CATALOG.read_text(encoding="utf-8"))["refused"])


def virtual_state(spec: BoardSpec) -> Literal["tried", "untried", "not modelled", "no Helium"]:
    """Whether the image of a board can run on an emulated core, and whether one ever has."""
    if spec.core != "cortex-m4f":
        return "no Helium"  # unicorn's cores are up to a Cortex-M33
    chip = find_chip(spec.chip)
    if chip is None:
        return "not modelled"
    return "tried" if chip.tried else "untried"


def closest(name: str, part: Part = "board") -> str | None:
    """The name in the catalog that looks most like this one; None when none does."""
    import difflib

    by_lower = {known.lower(): known for known in board_names(part)}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


@functools.cache
def _boards() -> Mapping[str, BoardSpec]:
    return MappingProxyType(read_catalog(CATALOG.read_text(encoding="utf-8")))


def read_catalog(text: str) -> dict[str, BoardSpec]:
    """The boards of a catalog in TOML. Raises CatalogError naming the entry and the key."""
    document = tomllib.loads(text)
    socs = document.get("soc", {})
    boards = {name: _board(name, raw, socs) for name, raw in document.get("board", {}).items()}
    machines = {name: _machine(name, raw) for name, raw in document.get("machine", {}).items()}
    return boards | machines


def _board(name: str, raw: Mapping[str, Any], socs: Mapping[str, Any]) -> BoardSpec:
    board = Entry(f"board.{name}", raw)
    soc = _soc(board.one_of("soc", tuple(socs)), socs)
    memories = _memories(soc.table("memory"))
    jlink = soc.table("jlink")
    groups = _groups(board, soc)
    transports = board.some_of("transports", TRANSPORTS)
    words = {group: entry.optional_text("disagrees") for group, entry in groups.items()}
    return BoardSpec(
        name=name,
        title=board.text("title"),
        part="board",
        soc=board.text("soc"),
        core=soc.one_of("core", CORES),
        memories=MappingProxyType({key: _memory(entry) for key, entry in memories.items()}),
        clocks_hz=_clocks(soc.table("clocks_hz")),
        transport=transports[0],
        transports=transports,
        usb_vid=board.whole("usb_vid", 1),
        usb_pid=board.whole("usb_pid", 1) if board.has("usb_pid") else None,
        ambiqsuite=board.text("ambiqsuite"),
        jlink_device=jlink.text("device"),
        load_address=jlink.whole("load_address", 0),
        power_pins=_pins(board.table("power")),
        app_pins=_pins(board.table("power_app" if board.has("power_app") else "power")),
        io_voltage=board.table("power").number_of("io_voltage", IO_VOLTAGES),
        counters=soc.table("counters").texts("names"),
        sources=MappingProxyType({group: entry.text("source") for group, entry in groups.items()}),
        disagreements=MappingProxyType({group: text for group, text in words.items() if text}),
    )


def _machine(name: str, raw: Mapping[str, Any]) -> BoardSpec:
    machine = Entry(f"machine.{name}", raw)
    memories = _memories(machine.table("memory"))
    groups = {f"memory.{key}": entry for key, entry in memories.items()} | {"board": machine}
    return BoardSpec(
        name=name,
        title=machine.text("title"),
        part="machine",
        soc="",
        core=machine.one_of("core", CORES),
        memories=MappingProxyType({key: _memory(entry) for key, entry in memories.items()}),
        clocks_hz=_clocks(machine.table("clocks_hz")),
        transport="socket",
        transports=(),
        usb_vid=0,
        usb_pid=None,
        ambiqsuite="",
        jlink_device="",
        load_address=0,
        power_pins=MappingProxyType({}),
        app_pins=MappingProxyType({}),
        io_voltage=0,
        counters=(),
        sources=MappingProxyType({group: entry.text("source") for group, entry in groups.items()}),
        disagreements=MappingProxyType({}),
    )


def _soc(name: str, socs: Mapping[str, Any]) -> Entry:
    own = Entry(f"soc.{name}", socs[name])
    if not own.has("like"):
        return own
    other = socs[own.one_of("like", tuple(socs))]
    inherited = {key: other[key] for key in INHERITED if key in other}
    return Entry(own.name, {**inherited, **own.raw})


def _groups(board: Entry, soc: Entry) -> dict[str, Entry]:
    """Every group of figures that has a source of its own."""
    memories = _memories(soc.table("memory"))
    return {
        **{f"memory.{key}": entry for key, entry in memories.items()},
        **{key: soc.table(key) for key in ("clocks_hz", "jlink", "counters")},
        "board": board,
        "power": board.table("power"),
    }


def _memories(table: Entry) -> dict[str, Entry]:
    unknown = set(table.raw) - set(MEMORIES)
    if unknown:
        raise CatalogError(f"board catalog: {table.name}: unknown memory {min(unknown)}")
    return {key: table.table(key) for key in MEMORIES if key in table.raw}


def _memory(entry: Entry) -> Memory:
    memory = Memory(bytes=entry.whole("bytes", 1), reserved=entry.whole("reserved", 0))
    if memory.usable <= 0:
        raise CatalogError(f"board catalog: {entry.name}: reserved leaves nothing to use")
    return memory


def _pins(entry: Entry) -> Mapping[str, int]:
    return MappingProxyType({pin: entry.whole(pin, 0) for pin in PINS})


def _clocks(entry: Entry) -> Mapping[str, int]:
    clocks = {mode: entry.whole(mode, 1) for mode in CLOCK_MODES if entry.has(mode)}
    if not clocks:
        raise CatalogError(f"board catalog: {entry.name}: has neither LP nor HP")
    return MappingProxyType(clocks)
