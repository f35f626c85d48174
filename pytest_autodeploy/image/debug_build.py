"""A copy of built firmware for a debugger, and the commands that start one on it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.files import write_bytes

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.cache import Built

HOW = "debug.txt"
_SYMBOLS = (".axf", ".elf")
_SPEED_KHZ = 4000


def keep_build(built: Built, folder: Path, spec: BoardSpec) -> Path:
    """Copy the files of an image to a folder, with the commands; gives that of the commands.

    Raises ResultsError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(built.folder.glob("autodeploy.*")):
            shutil.copyfile(path, folder / path.name)
    except OSError as error:
        raise ResultsError(
            f"cannot copy the build to {folder}: {error.strerror}",
            hint="give --evb-keep-build another folder",
        ) from None
    write_bytes(folder / HOW, "\n".join(commands(folder, spec)).encode() + b"\n")
    return folder / HOW


def commands(folder: Path, spec: BoardSpec) -> list[str]:
    """How GDB is started on the image in a folder: the server first, in a terminal of its own."""
    found = (folder / f"autodeploy{suffix}" for suffix in _SYMBOLS)
    image = next((path for path in found if path.exists()), folder / "autodeploy.elf")
    if spec.has_sdk:
        server = f"JLinkGDBServer -device {spec.jlink_device} -if SWD -speed {_SPEED_KHZ}"
        return [server, f'arm-none-eabi-gdb -ex "target remote :2331" "{image}"']
    server = f'qemu-system-arm -machine {spec.name} -nographic -S -gdb tcp::1234 -kernel "{image}"'
    return [server, f'arm-none-eabi-gdb -ex "target remote :1234" "{image}"']
