"""What is plugged in: debug probes, the tools that drive them, and the serial ports of boards."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_autodeploy.board.jlink import COMMANDER, JLink, find_commander
from pytest_autodeploy.board.probe import Connected, ProbeUnavailable
from pytest_autodeploy.board.pyocd import PyOcd, find_pyocd
from pytest_autodeploy.board.usb_ports import ports_of_boards
from pytest_autodeploy.catalog.links import SEGGER_VID
from pytest_autodeploy.doctor.access import denied
from pytest_autodeploy.doctor.check import Check
from pytest_autodeploy.doctor.fixes import pip_install
from pytest_autodeploy.doctor.usb import usb_devices
from pytest_autodeploy.image.firmware import BuildOptions

TIMEOUT_S = 10.0

_PLUG_IN = "connect the board's debug USB port, and switch the board on"
_J_LINK = "install SEGGER's J-Link software: https://www.segger.com/downloads/jlink"


def probe_tool(_: BuildOptions) -> Iterable[Check]:
    """J-Link Commander or pyOCD, one of which flashes EVBs."""
    there = [path for path in (find_commander(), " ".join(find_pyocd())) if path]
    if there:
        yield Check("probe tool", "ok", ", ".join(there))
    else:
        what = f"neither J-Link Commander ({COMMANDER}) nor pyOCD is there"
        fix = f"{_J_LINK}\nor, where it knows the chip: {pip_install('pyocd')}"
        yield Check("probe tool", "missing", what, fix)


def connected_probes() -> list[Connected]:
    """The probes that J-Link Commander lists, or pyOCD where there is no other tool.

    Raises ProbeUnavailable when the tool does not list them in time.
    """
    if find_commander():
        return JLink("", "", timeout_s=TIMEOUT_S).probes()
    return PyOcd("", "", timeout_s=TIMEOUT_S).probes() if find_pyocd() else []


def probes(_: BuildOptions) -> Iterable[Check]:
    """The debug probes that are connected, and whether this user may use them."""
    closed = False
    for device in usb_devices(SEGGER_VID):
        refused = denied(device.node, SEGGER_VID)
        if refused:
            closed = True
            yield Check(
                "probe", "trouble", f"{device.name} ({device.node}): {refused[0]}", refused[1]
            )
    try:
        found = connected_probes()
    except ProbeUnavailable as error:
        late = f" after {error.seconds:g} s" if error.seconds else ""
        fix = error.hint or "run it by hand to see why"
        yield Check("probe", "trouble", f"{error.what}{late}", fix)
        return
    for probe in found:
        yield Check("probe", "ok", str(probe))
    if not found and not closed:
        yield Check("probe", "missing", "no debug probe is connected", _PLUG_IN)


def serial_ports(_: BuildOptions) -> Iterable[Check]:
    """The serial ports that may be those of boards, and whether this user may use them."""
    found = ports_of_boards()
    for port, names in found:
        what = f"{port.device} may be {' or '.join(names)}"
        refused = denied(Path(port.device), port.vid)
        if refused:
            yield Check("serial port", "trouble", f"{what}; {refused[0]}", refused[1])
        else:
            yield Check("serial port", "ok", what)
    if not found:
        what = "no serial port has the USB ids of a board"
        fix = "connect the board's USB ports; firmware with USB shows up once it is flashed"
        yield Check("serial port", "missing", what, fix)
