"""The catalog and what is plugged in, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_autodeploy.board.usb_ports import ports_of_boards
from pytest_autodeploy.catalog.boards import BoardSpec, catalog_specs
from pytest_autodeploy.catalog.kinds import Kind, all_kinds


def catalog() -> list[dict[str, Any]]:
    """Every board and machine: its ids, core, memories in bytes, clocks in Hz and transport."""
    kinds = sorted(all_kinds(), key=lambda kind: kind.stands_in)
    return [_board(spec, kinds) for spec in catalog_specs()]


def ports() -> list[dict[str, Any]]:
    """The serial ports that may be those of boards, by their USB ids, and of which boards."""
    return [
        {
            "device": port.device,
            "vid": port.vid,
            "pid": port.pid,
            "serial_number": port.serial_number,
            "description": port.description,
            "boards": names,
        }
        for port, names in ports_of_boards()
    ]


def _board(spec: BoardSpec, kinds: Sequence[Kind]) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "ids": [f"{kind.prefix}{spec.name}" for kind in kinds if spec.is_of(kind.part)],
        "soc": spec.soc or None,
        "core": spec.core,
        "memories": {
            name: {"bytes": memory.bytes, "usable_bytes": memory.usable}
            for name, memory in spec.memories.items()
        },
        "clocks_hz": dict(spec.clocks_hz),
        "transport": spec.transport,
    }
