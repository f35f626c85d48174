"""The catalog and what is plugged in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.board.usb_ports import ports_of_boards
from pytest_autodeploy.catalog.boards import BoardSpec, catalog_specs, virtual_state
from pytest_autodeploy.catalog.kinds import Kind, all_kinds


@dataclass(frozen=True)
class MemoryEntry:
    """A memory of a board, and how much of it a model and its arena may use."""

    bytes: int
    usable_bytes: int


@dataclass(frozen=True)
class BoardEntry:
    """A board or machine of the catalog; ``ids`` are as ``--evb`` takes them.

    ``power_pins`` are the GPIO numbers of the lines to a power meter, by ``in0``, ``in1`` and
    ``trigger`` (its Out0), ``power_app_pins`` those of the power application;
    ``io_voltage`` is their level in volts. ``transport`` is the usual one of the ``transports``.
    """

    name: str
    title: str
    ids: Sequence[str]
    soc: str | None
    core: str
    memories: Mapping[str, MemoryEntry]
    clocks_hz: Mapping[str, int]
    transport: str
    transports: Sequence[str]
    power_pins: Mapping[str, int]
    power_app_pins: Mapping[str, int]
    io_voltage: float
    virtual: str


@dataclass(frozen=True)
class PortEntry:
    """A serial port, and the ``boards`` that it may be of by its USB ids."""

    device: str
    vid: int | None
    pid: int | None
    serial_number: str | None
    description: str | None
    boards: Sequence[str]


def catalog() -> list[BoardEntry]:
    """Every board and machine: its ids, core, memories in bytes, clocks in Hz and transport."""
    kinds = sorted(all_kinds(), key=lambda kind: kind.stands_in)
    return [_board(spec, kinds) for spec in catalog_specs()]


def ports() -> list[PortEntry]:
    """The serial ports that may be those of boards, by their USB ids, and of which boards."""
    return [
        PortEntry(
            port.device, port.vid, port.pid, port.serial_number, port.description, tuple(names)
        )
        for port, names in ports_of_boards()
    ]


def _board(spec: BoardSpec, kinds: Sequence[Kind]) -> BoardEntry:
    return BoardEntry(
        name=spec.name,
        title=spec.title,
        ids=tuple(f"{kind.prefix}{spec.name}" for kind in kinds if spec.is_of(kind.part)),
        soc=spec.soc or None,
        core=spec.core,
        memories={
            name: MemoryEntry(memory.bytes, memory.usable) for name, memory in spec.memories.items()
        },
        clocks_hz=dict(spec.clocks_hz),
        transport=spec.transport,
        transports=spec.transports,
        power_pins=dict(spec.power_pins),
        power_app_pins=dict(spec.app_pins),
        io_voltage=spec.io_voltage,
        virtual=virtual_state(spec),
    )
