"""Which physical thing a port is: several names of a device, or of a server, are one."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import stat
from pathlib import Path
from urllib.parse import urlsplit

_PTY_MAJORS = range(136, 144)
_PTYS_EACH = 256
_HERE = "127.0.0.1"


def port_place(url: str, *, look_up: bool = True) -> str:
    """One name for all names of a port.

    Links to a device, and other nodes with its numbers, are ``/dev/ttyACM0``; a server of this
    host is ``socket://127.0.0.1:5000`` by whichever of its names and addresses. What cannot be
    found stays what it is; without ``look_up`` no name server is asked.
    """
    if "://" not in url:
        return _device(url)
    try:
        parts = urlsplit(url)
        host, number = parts.hostname, parts.port
    except ValueError:
        return url
    if parts.scheme not in ("socket", "rfc2217") or host is None or number is None:
        return url
    # What a server speaks does not matter: it is the same one.
    return f"socket://{_address(host, look_up=look_up)}:{number}"


def _device(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116  # pathlib would make a Path of COM3, too
    except (OSError, ValueError):
        return path
    if not stat.S_ISCHR(found.st_mode) or not hasattr(os, "major"):
        return os.path.realpath(path)
    major, minor = os.major(found.st_rdev), os.minor(found.st_rdev)
    if major in _PTY_MAJORS:
        return f"/dev/pts/{minor + _PTYS_EACH * (major - _PTY_MAJORS.start)}"
    with contextlib.suppress(OSError):
        facts = Path(f"/sys/dev/char/{major}:{minor}/uevent").read_text(encoding="utf-8")
        for line in facts.splitlines():
            if line.startswith("DEVNAME="):
                return f"/dev/{line.removeprefix('DEVNAME=')}"
    return os.path.realpath(path)


def _address(host: str, *, look_up: bool) -> str:
    """The address of a host, that of IPv4 where it has both; one for all those of this host."""
    if host == "localhost":
        return _HERE
    found = [host]
    with contextlib.suppress(OSError, UnicodeError):
        if look_up:
            found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None)]
    try:
        addresses = [_plain(each) for each in found]
    except ValueError:  # a name that nobody knows
        return host
    if any(map(_is_here, addresses)):
        return _HERE
    return str(min(addresses, key=lambda each: (each.version, str(each))))


def _plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def _is_here(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is one of this host: only such can be bound."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((str(address), 0))
        return True
    return False
