"""Which serial port is the board's: by USB ids and serial numbers, never by device names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serial.tools import list_ports

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.port_place import port_place
from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.catalog.links import SEGGER_VID

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec


def find_port(spec: BoardSpec, board: str, probe: str) -> str | None:
    """The device of the board's serial port, None when it is not there.

    A board with USB is known by the ids of its firmware; one with UART has the serial port of its
    J-Link, known by the serial number ``probe``. Raises BoardUnavailable that lists the candidates
    when there are several.
    """
    found = [port for port in list_ports.comports() if _is_of(port, spec, probe)]
    if len(found) > 1:
        raise BoardUnavailable(
            f"several serial ports may be that of the {spec.name}: {_listing(found)}",
            board=board,
            hint="choose one by --evb-port=DEVICE",
        )
    return str(found[0].device) if found else None


def ports_of_boards() -> list[tuple[Any, list[str]]]:
    """The serial ports whose USB ids are those of boards, each with the names of these boards."""
    specs = [board_spec(name) for name in board_names()]
    found = [
        (port, [spec.name for spec in specs if _has_ids(port, spec)])
        for port in list_ports.comports()
    ]
    return [(port, names) for port, names in found if names]


def exists(url: str) -> bool:
    """Whether a device is there; what is behind a URL shows when it is opened."""
    if "://" in url or Path(url).exists():
        return True
    return any(port.device == url for port in list_ports.comports())


def wanted(spec: BoardSpec, probe: str) -> str:
    """What the board's port looks like, and what ports there are instead."""
    if spec.transport == "uart":
        looks = f"a serial port of the J-Link {probe} (USB vendor {SEGGER_VID:04X})"
    else:
        looks = f"a USB serial port of {_ids(spec.usb_vid, spec.usb_pid)}"
    return f"looked for {looks}; ports that exist: {_listing(list_ports.comports())}"


def port_identity(url: str) -> str:
    """What stands for the board behind a port: probe, USB device and its place, or the port."""
    for port in list_ports.comports():
        if _same_device(port.device, url) and port.vid is not None:
            if port.vid == SEGGER_VID and port.serial_number:
                return f"probe {_number(port.serial_number)}"
            number, place = port.serial_number or "", port.location or port.device
            return f"USB device {_ids(port.vid, port.pid)} {number} at {place}"
    return port_place(url)


def probe_identity(serial: str) -> str:
    """What stands for the board behind a debug probe; the same as for the probe's serial port."""
    return f"probe {_number(serial)}"


def _is_of(port: Any, spec: BoardSpec, probe: str) -> bool:
    return _has_ids(port, spec) and _has_number(port, spec, probe)


def _has_ids(port: Any, spec: BoardSpec) -> bool:
    # TinyUSB makes the product id from the USB classes that are built in, so it may be left open.
    return port.vid == spec.usb_vid and spec.usb_pid in (None, port.pid)


def _has_number(port: Any, spec: BoardSpec, probe: str) -> bool:
    return spec.transport != "uart" or _number(port.serial_number or "") == _number(probe)


def _number(serial: str) -> str:
    """A J-Link's serial number: USB descriptors pad it with zeros."""
    return serial.lstrip("0") or serial


def _same_device(device: str, url: str) -> bool:
    # Links such as /dev/serial/by-id/... stand for the same device.
    return device == url or ("://" not in url and Path(device).resolve() == Path(url).resolve())


def _ids(vid: int | None, pid: int | None) -> str:
    return ":".join("????" if number is None else f"{number:04X}" for number in (vid, pid))


def _listing(ports: Sequence[Any]) -> str:
    return ", ".join(map(_describe, ports)) or "none"


def _describe(port: Any) -> str:
    if port.vid is None:
        return f"{port.device} ({port.description})"
    number = f", serial number {port.serial_number}" if port.serial_number else ""
    return f"{port.device} ({_ids(port.vid, port.pid)}{number}, {port.description})"
