"""``autodeploy boards``: the catalog, what each kind of board lacks, and what is plugged in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pytest_autodeploy.cli.command import json_option, print_json, print_lines
from pytest_autodeploy.cli.settings import TREES, setting_options, settings_of

_WORDS = {
    "sim:": ("simulated", "sim:NAME", "TFLM's kernels on this PC, modelled time"),
    "qemu:": ("emulated", "qemu:NAME", "Arm firmware on QEMU, counts of instructions"),
    "": ("hardware", "NAME", "an EVB, flashed through its probe, measured"),
}


@click.command(short_help="List the boards, what each kind needs, and what is connected.")
@setting_options(*TREES)
@json_option
def boards(as_json: bool, **trees: str | None) -> None:
    """List all boards, what this PC lacks for each kind of them, and what is connected.

    JSON: kinds[] with kind (simulated, emulated, hardware), prefix, ready, lacks[]; boards[] with
    name, title, ids[] (as --evb takes them), soc, core, memories (bytes, usable_bytes of each),
    clocks_hz, transport; ports[] with device, vid, pid, serial_number, description, boards[];
    probes[] with serial, name; and probe_error: null, or why the probes could not be listed.
    """
    from pytest_autodeploy.board.overview import catalog, ports

    kinds = _kinds(trees)
    probes, error = _probes()
    found: dict[str, Any] = {
        "kinds": kinds,
        "boards": catalog(),
        "ports": ports(),
        "probes": probes,
        "probe_error": error,
    }
    if as_json:
        print_json(found)
    else:
        print_lines([*_kind_lines(kinds), "", *_board_lines(found["boards"]), "", *_plugged(found)])


def _kinds(trees: Mapping[str, str | None]) -> list[dict[str, Any]]:
    from pytest_autodeploy.board.select import build_options
    from pytest_autodeploy.doctor.check import lacking
    from pytest_autodeploy.doctor.goals import KINDS

    options = build_options(settings_of(trees), None)
    found = []
    for prefix, looks in KINDS.items():
        lacks = lacking([check for look in looks for check in look(options)])
        kind = _WORDS[prefix][0]
        found.append({"kind": kind, "prefix": prefix, "ready": not lacks, "lacks": lacks})
    return found


def _probes() -> tuple[list[dict[str, str]], str | None]:
    from pytest_autodeploy.board.probe import ProbeUnavailable
    from pytest_autodeploy.doctor.boards import connected_probes

    try:
        return [vars(probe) for probe in connected_probes()], None
    except ProbeUnavailable as error:
        return [], error.what


def _kind_lines(kinds: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for kind in kinds:
        word, name, what = _WORDS[kind["prefix"]]
        state = "ready" if kind["ready"] else f"lacks {', '.join(kind['lacks'])}"
        yield f"{word:<9}  --evb {name:<9}  {what:<45}  {state}"
    if not all(kind["ready"] for kind in kinds):
        yield "autodeploy doctor says how to get what is lacking."


def _board_lines(catalog: Sequence[Mapping[str, Any]]) -> list[str]:
    from pytest_autodeploy.base.table import Column, table

    columns = [
        Column("--evb", [board["ids"][0] for board in catalog]),
        Column("Simulated", [(*board["ids"], "")[1] for board in catalog]),
        Column("Core", [board["core"] for board in catalog]),
        Column("Clocks", [_clocks(board["clocks_hz"]) for board in catalog]),
        Column("Port", [board["transport"] for board in catalog]),
        Column("Memories in KB, what is usable", [_memories(board) for board in catalog]),
    ]
    return table(columns)


def _clocks(clocks_hz: Mapping[str, int]) -> str:
    return f"{'/'.join(f'{hertz / 1e6:g}' for hertz in clocks_hz.values())} MHz"


def _memories(board: Mapping[str, Any]) -> str:
    sizes = board["memories"].items()
    return ", ".join(f"{name.upper()} {size['usable_bytes'] // 1024:,}" for name, size in sizes)


def _plugged(found: Mapping[str, Any]) -> Iterator[str]:
    for port in found["ports"]:
        yield f"{port['device']} ({port['description']}) may be {' or '.join(port['boards'])}"
    for probe in found["probes"]:
        yield f"probe {probe['serial']} ({probe['name']})"
    if found["probe_error"]:
        yield f"probes: {found['probe_error']}"
    if not (found["ports"] or found["probes"]):
        yield "No serial port of a board and no debug probe is connected."
