"""``--evb-transport``: which link a board has to its host, where the firmware can have several."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.catalog.boards import BoardSpec, UnknownBoard

SEGGER_VID = 0x1366
"""USB vendor of on-board J-Links, whose serial port is the board's UART."""


def with_transport(spec: BoardSpec, transport: str | None) -> BoardSpec:
    """The board with this link in place of its usual one, which None leaves and USB always is.

    Raises UnknownBoard for a link that its firmware cannot have.
    """
    if transport is None or transport == spec.transport:
        return spec
    if transport == "uart" and "uart" in spec.transports:
        return replace(spec, transport="uart", usb_vid=SEGGER_VID, usb_pid=None)
    raise UnknownBoard(
        f"--evb-transport: {spec.name} has no link over {transport.upper()}",
        hint=f"its firmware can have: {', '.join(spec.transports) or spec.transport}",
    )
