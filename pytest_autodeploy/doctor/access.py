"""Whether this user may use a device, and if not: who may, and what to do about it."""

from __future__ import annotations

import getpass
import os
import stat
import sys
from pathlib import Path

from pytest_autodeploy.doctor.fixes import as_root


def denied(device: Path, vid: int) -> tuple[str, str] | None:
    """Why the device is closed to this user, and the fix; None when it is open, or not there.

    Access lists count, as udev gives them to who sits at the PC. ``vid`` is the USB vendor, for a
    rule of udev.
    """
    if os.name != "posix" or not device.exists() or os.access(device, os.R_OK | os.W_OK):
        return None
    status = device.stat()
    owner, group = _owner(status.st_uid), _group(status.st_gid)
    what = f"permission denied: it belongs to {owner}:{group} ({stat.filemode(status.st_mode)})"
    if group == "root" or not status.st_mode & stat.S_IWGRP:
        return what, udev_rule(vid)
    if _is_member(status.st_gid, group):
        return (
            f"{what}, and this session is older than your place in {group}",
            "log out and in again",
        )
    command = as_root(f"usermod -aG {group} {_user()}", needs_root=True)
    return f"{what}, and you are not in the group {group}", f"{command}\nthen log out and in again"


def udev_rule(vid: int) -> str:
    """The command that opens all USB devices of a vendor, by a rule of udev."""
    if sys.platform != "linux":
        return "use an account that may use the device"
    rule = f'SUBSYSTEMS=="usb", ATTRS{{idVendor}}=="{vid:04x}", MODE="0666", TAG+="uaccess"'
    file = f"/etc/udev/rules.d/70-autodeploy-{vid:04x}.rules"
    write = f"echo '{rule}' | {as_root('tee')} {file}"
    return f"{write}\n{as_root('udevadm control --reload')} && {as_root('udevadm trigger')}"


def _user() -> str:
    """The name of this user; its number where it has none, as in some containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _owner(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _is_member(gid: int, group: str) -> bool:
    """Whether the user is in a group, by the system's list; the session may not know it yet."""
    import grp

    try:
        members = grp.getgrgid(gid).gr_mem
    except KeyError:
        return False
    return group != "root" and _user() in members
