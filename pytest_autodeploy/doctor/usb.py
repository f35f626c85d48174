"""USB devices by vendor as Linux lists them, with the node that a driver in user space opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEVICES, NODES = Path("/sys/bus/usb/devices"), Path("/dev/bus/usb")
"""Where Linux has them; nowhere on other systems."""


@dataclass(frozen=True)
class UsbDevice:
    """A USB device: what it calls itself, and its node."""

    vid: int
    name: str
    node: Path


def usb_devices(vid: int) -> Iterator[UsbDevice]:
    """The devices of a vendor; none where the system has no such list."""
    for folder in sorted(DEVICES.glob("*")):
        try:
            if int(_text(folder / "idVendor"), 16) != vid:
                continue
            bus, number = int(_text(folder / "busnum")), int(_text(folder / "devnum"))
        except (OSError, ValueError):  # no device but an interface, or unplugged meanwhile
            continue
        yield UsbDevice(vid, _name(folder), NODES / f"{bus:03}" / f"{number:03}")


def _name(folder: Path) -> str:
    words = []
    for part in ("product", "serial"):
        try:
            words.append(_text(folder / part))
        except OSError:
            continue
    return " ".join(words) or "USB device"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").strip()
