"""``autodeploy boards``: the catalog, what each kind of board lacks, and what is plugged in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_autodeploy.cli.command import json_option, print_json, print_lines
from pytest_autodeploy.cli.health import State, state_options
from pytest_autodeploy.cli.rig import NO_CHANGE, Change, rig_options
from pytest_autodeploy.cli.settings import TREES, setting_options, settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.overview import BoardEntry, PortEntry
    from pytest_autodeploy.board.probe import Connected
    from pytest_autodeploy.catalog.kinds import Kind


@click.command(short_help="List the boards, what each kind needs, and what is connected.")
@setting_options(*TREES)
@state_options
@rig_options
@json_option
def boards(
    as_json: bool,
    health: Path | None,
    rig: Path | None,
    take_out: str | None,
    put_back: str | None,
    reason: str,
    quarantine: Path | None,
    lift: str | None,
    **trees: str | None,
) -> None:
    """List all boards, what this PC lacks for each kind of them, and what is connected.

    Kinds are simulated, emulated and hardware, and those that installed packages bring.

    JSON: kinds[] with kind, prefix, source, runs (what runs a model), ready, lacks[]; boards[] with
    name, title, ids[] (as --evb takes them), soc, core, memories (bytes, usable_bytes of each),
    clocks_hz, transport, transports[], power_pins and power_app_pins (in0, in1, trigger: GPIO
    numbers of the lines to a power meter), io_voltage, virtual (whether its image can run on an
    emulated core: tried, untried, not modelled, no Helium); ports[] with device, vid, pid,
    serial_number, description, boards[]; probes[] with serial, name; and probe_error: null, or why
    the probes could not be listed.

    With --rig: the boards of a rig. JSON: rig[] with board (name, type, port, probe, meter,
    power_cycle[], line), state (free, leased, taken out or missing), text, there, holder (pid,
    user, since, run, is_this_process; or null) and out (why, since, by, reason; or null).

    With --health: flashes, breaks, retries, requests that were sent again and the drift of the
    clock of each board. JSON: health[] with board, name, serial, port, host, runs, last, flashes,
    breaks, broke_in, broke_last, retries, retransmissions, clock_ppm, clock_drift_ppm.

    With --quarantine: the boards that are out. JSON: lifted, out with why, since, by, reason of
    each.
    """
    state = State(health, quarantine, lift)
    if state != State():
        state.show(as_json=as_json)
        return
    change = Change(take_out, put_back, reason)
    if rig is not None or change != NO_CHANGE:
        change.make(rig, as_json=as_json)
        return
    _show_catalog(trees, as_json=as_json)


def _show_catalog(trees: Mapping[str, str | None], *, as_json: bool) -> None:
    from pytest_autodeploy.board.overview import catalog, ports
    from pytest_autodeploy.catalog.kinds import all_kinds

    kinds = [_kind(kind, trees) for kind in all_kinds()]
    probes, error = _probes()
    found = _Found(kinds, catalog(), ports(), probes, error)
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(found))
    else:
        print_lines([*_kind_lines(kinds), "", *_board_lines(found.boards), "", *_plugged(found)])


@dataclass(frozen=True)
class _KindState:
    kind: str
    prefix: str
    source: str
    runs: str
    ready: bool
    lacks: Sequence[str]


@dataclass(frozen=True)
class _Found:
    kinds: Sequence[_KindState]
    boards: Sequence[BoardEntry]
    ports: Sequence[PortEntry]
    probes: Sequence[Connected]
    probe_error: str | None


def _kind(kind: Kind, trees: Mapping[str, str | None]) -> _KindState:
    from pytest_autodeploy.board.order import build_options
    from pytest_autodeploy.doctor.check import lacking
    from pytest_autodeploy.doctor.goals import looks_of

    options = build_options(settings_of(trees), None)
    lacks = lacking([check for look in looks_of(kind) for check in look(options)])
    return _KindState(kind.name, kind.prefix, kind.source, kind.runs, not lacks, lacks)


def _probes() -> tuple[list[Connected], str | None]:
    from pytest_autodeploy.board.probe import ProbeUnavailable
    from pytest_autodeploy.doctor.boards import connected_probes

    try:
        return connected_probes(), None
    except ProbeUnavailable as error:
        return [], error.what


def _kind_lines(kinds: Sequence[_KindState]) -> Iterator[str]:
    from pytest_autodeploy.base.table import Column, table
    from pytest_autodeploy.catalog.kinds import all_kinds

    shown = {kind.prefix: kind.shown for kind in all_kinds()}
    lacks = [", ".join(kind.lacks) for kind in kinds]
    yield from table(
        [
            Column("Kind", [kind.kind for kind in kinds]),
            Column("Typed", [f"--evb {shown[kind.prefix]}" for kind in kinds]),
            Column("What runs a model", [kind.runs for kind in kinds]),
            Column("On this PC", [f"lacks {names}" if names else "ready" for names in lacks]),
        ]
    )
    if not all(kind.ready for kind in kinds):
        yield "autodeploy doctor says how to get what is lacking."


def _board_lines(catalog: Sequence[BoardEntry]) -> list[str]:
    from pytest_autodeploy.base.table import Column, table
    from pytest_autodeploy.catalog.kinds import all_kinds

    stand_ins = [kind for kind in all_kinds() if kind.stands_in and kind.takes == "NAME"]
    columns = [
        Column("--evb", [board.ids[0] for board in catalog]),
        *(Column(kind.name.capitalize(), _ids(kind, catalog)) for kind in stand_ins),
        Column("Core", [board.core for board in catalog]),
        Column("Clocks", [_clocks(board.clocks_hz) for board in catalog]),
        Column("Port", ["/".join(board.transports) or board.transport for board in catalog]),
        Column("In0/In1/Out0", [_pins(board) for board in catalog]),
        Column("Memories in KB, what is usable", [_memories(board) for board in catalog]),
    ]
    return table(columns)


def _ids(kind: Kind, catalog: Sequence[BoardEntry]) -> list[str]:
    """How each board is typed for a kind; nothing for those that it has none of."""
    return [_typed(kind, board) for board in catalog]


def _typed(kind: Kind, board: BoardEntry) -> str:
    name = f"{kind.prefix}{board.name}"
    if name not in board.ids:
        return f"({board.virtual})" if kind.part == "virtual" else ""
    untried = kind.part == "virtual" and board.virtual == "untried"
    return f"{name} (untried)" if untried else name


def _clocks(clocks_hz: Mapping[str, int]) -> str:
    return f"{'/'.join(f'{hertz / 1e6:g}' for hertz in clocks_hz.values())} MHz"


def _pins(board: BoardEntry) -> str:
    """The GPIOs to a power meter; those of the power application follow where they are others."""
    both = [
        "/".join(str(pins[name]) for name in ("in0", "in1", "trigger"))
        for pins in (board.power_pins, board.power_app_pins)
        if pins
    ]
    shown = " (app ".join(dict.fromkeys(both))
    return f"{shown})" if "(" in shown else shown


def _memories(board: BoardEntry) -> str:
    sizes = board.memories.items()
    return ", ".join(f"{name.upper()} {size.usable_bytes // 1024:,}" for name, size in sizes)


def _plugged(found: _Found) -> Iterator[str]:
    for port in found.ports:
        yield f"{port.device} ({port.description}) may be {' or '.join(port.boards)}"
    for probe in found.probes:
        yield f"probe {probe.serial} ({probe.name})"
    if found.probe_error:
        yield f"probes: {found.probe_error}"
    if not (found.ports or found.probes):
        yield "No serial port of a board and no debug probe is connected."
