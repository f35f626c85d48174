"""The serial port of a place's board, as a URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.board.labgrid.client import LabError

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.listing import Resource

NETWORK_SERIAL_PORT = "NetworkSerialPort"
CHOSEN = "autodeploy"
"""The name that a lab gives to the port of the RPC, when a place has several."""

_SCHEMES = {"raw": "socket", "rfc2217": "rfc2217"}


def choose_port(resources: Sequence[Resource], place: str, board: str) -> Resource:
    """The serial port of a place. Raises LabError: none, several, or one that is away."""
    found = [each for each in resources if each.kind == NETWORK_SERIAL_PORT]
    chosen = found if len(found) == 1 else [each for each in found if each.name == CHOSEN]
    if not found:
        there = ", ".join(each.path for each in resources) or "nothing"
        raise LabError(
            f"the place {place} has no {NETWORK_SERIAL_PORT}",
            board=board,
            hint=f"there is {there}; its exporter may be away: labgrid-client -p {place} show",
        )
    if len(chosen) != 1:
        raise LabError(
            f"the place {place} has several serial ports: {', '.join(e.path for e in found)}",
            board=board,
            hint=f"name one: labgrid-client -p {place} add-named-match {found[0].path} {CHOSEN}",
        )
    if chosen[0].orphaned or not chosen[0].available:
        raise LabError(
            f"the serial port {chosen[0].path} of the place {place} is away",
            board=board,
            hint="its exporter, or the cable of the board, is not connected",
        )
    return chosen[0]


def address(port: Resource, board: str) -> tuple[str, str, int]:
    """The scheme of a URL for pySerial, host and TCP port of a serial port. Raises LabError.

    labgrid's exporter serves RFC 2217 (with ser2net) where no protocol is said.
    """
    params = port.params
    protocol = params.get("protocol", "rfc2217")
    host, number = params.get("host"), params.get("port")
    known = isinstance(host, str) and host and isinstance(number, int) and 0 < number <= 0xFFFF
    if protocol not in _SCHEMES or not known:
        raise LabError(
            f"the serial port {port.path} cannot be used: {protocol} at {host}:{number}",
            board=board,
            hint="it has to be raw or rfc2217, with a host and a TCP port",
        )
    return _SCHEMES[protocol], str(host), int(str(number))


def proxy(port: Resource) -> str | None:
    """The host that the exporter wants to be reached through by ssh, None when there is none."""
    extra = port.params.get("extra")
    if isinstance(extra, dict) and extra.get("proxy_required") and extra.get("proxy"):
        return str(extra["proxy"])
    return None
