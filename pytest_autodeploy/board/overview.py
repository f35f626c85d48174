"""The catalog and what is plugged in, as plain values."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.board.usb_ports import ports_of_boards
from pytest_autodeploy.catalog.boards import BoardSpec, board_names, board_spec


def catalog() -> list[dict[str, Any]]:
    """Every board and machine: its ids, core, memories in bytes, clocks in Hz and transport."""
    specs = [board_spec(name) for name in board_names()]
    machines = [board_spec(name, "emulated") for name in board_names("emulated")]
    return [_board(spec) for spec in (*specs, *machines)]


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


def _board(spec: BoardSpec) -> dict[str, Any]:
    emulated = spec.kind == "emulated"
    return {
        "name": spec.name,
        "title": spec.title,
        "ids": [f"qemu:{spec.name}"] if emulated else [spec.name, f"sim:{spec.name}"],
        "soc": spec.soc or None,
        "core": spec.core,
        "memories": {
            name: {"bytes": memory.bytes, "usable_bytes": memory.usable}
            for name, memory in spec.memories.items()
        },
        "clocks_hz": dict(spec.clocks_hz),
        "transport": spec.transport,
    }
