"""The command to type on this very system."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

System = Literal["debian", "fedora", "arch", "macos", "windows", "other"]

_INSTALL: Mapping[System, str] = {
    "debian": "apt install",
    "fedora": "dnf install",
    "arch": "pacman -S",
    "macos": "brew install",
}
_COMPILER: Mapping[System, str] = {
    "debian": "gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib",
    "fedora": "arm-none-eabi-gcc-cs arm-none-eabi-gcc-cs-c++ arm-none-eabi-newlib",
    "arch": "arm-none-eabi-gcc arm-none-eabi-newlib",
    "macos": "--cask gcc-arm-embedded",
}
_QEMU: Mapping[System, str] = {"arch": "qemu-system-arm", "macos": "qemu"}
_NINJA: Mapping[System, str] = {"debian": "ninja-build", "fedora": "ninja-build"}
_PACKAGES: Mapping[str, Mapping[System, str]] = {
    "arm-none-eabi-gcc": _COMPILER,
    "qemu-system-arm": _QEMU,
    "ninja": _NINJA,
}


def system() -> System:
    """The kind of this system, by which packages are installed."""
    if sys.platform == "darwin":
        return "macos"
    if sys.platform == "win32":
        return "windows"
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "other"
    names = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    known: dict[str, System] = {"debian": "debian", "fedora": "fedora", "arch": "arch"}
    return next((known[name] for name in names if name in known), "other")


def install(program: str) -> str:
    """How to install a program of the system's package manager."""
    where = system()
    if where not in _INSTALL:
        return f"install {program} and put it on PATH"
    packages = _PACKAGES.get(program, {}).get(where, program)
    return as_root(f"{_INSTALL[where]} {packages}", needs_root=where != "macos")


def as_root(command: str, *, needs_root: bool = True) -> str:
    """A command as an ordinary user has to type it when it needs the rights of root."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return command if root or not needs_root else f"sudo {command}"


def pip_install(requirement: str, *options: str) -> str:
    """How to install a package into the Python that runs this."""
    quoted = " ".join([*options, f'"{requirement}"'])  # every shell knows these quotes
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {_quote(sys.executable)} {quoted}"
    pip = shutil.which("pip")
    if pip and Path(pip).parent == Path(sys.executable).parent:
        return f"pip install {quoted}"
    return f"{_quote(sys.executable)} -m pip install {quoted}"


def set_variable(name: str, value: str) -> str:
    """How to set a variable of the environment; ``value`` is a path, or words for the shell."""
    return f"setx {name} {value}" if sys.platform == "win32" else f"export {name}={value}"


def _quote(path: str) -> str:
    return f'"{path}"' if os.name == "nt" else shlex.quote(path)
