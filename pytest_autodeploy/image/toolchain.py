"""The compiler: found on PATH or given, and its version checked."""

from __future__ import annotations

import functools
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_autodeploy.image.errors import ToolMissing
from pytest_autodeploy.image.tool import run_build_tool

Kind = Literal["gcc", "armclang"]

GCC = "arm-none-eabi-gcc"
ARMCLANG = "armclang"
VARIABLE = "AUTODEPLOY_TOOLCHAIN"
INSTALL = (
    "Debian and Ubuntu: apt install gcc-arm-none-eabi libnewlib-arm-none-eabi "
    "libstdc++-arm-none-eabi-newlib; or name a compiler, or its folder, with --evb-toolchain "
    f"or {VARIABLE}."
)
ARM_INSTALL = (
    "Arm Compiler for Embedded comes from Arm, with a licence: developer.arm.com; name armclang or "
    f"its folder with --evb-toolchain or {VARIABLE}."
)

_OLDEST: dict[Kind, tuple[int, ...]] = {"gcc": (10, 3), "armclang": (6, 16)}
_VERSION: dict[Kind, re.Pattern[str]] = {
    "gcc": re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b(?!.*\b\d+\.\d+\.\d+\b)"),  # the last one
    "armclang": re.compile(r"Arm Compiler[^\n]*?(\d+)\.(\d+)"),
}
_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Toolchain:
    """A compiler for Arm; ``release`` is the line by which it identifies itself."""

    kind: Kind
    compiler: Path
    release: str

    @property
    def folder(self) -> Path:
        """The folder of the compiler and its linker."""
        return self.compiler.parent


def find_toolchain(given: str | None = None) -> Toolchain:
    """The compiler that is ``given`` (by name, path or folder), else of the variable, else on PATH.

    Raises ToolMissing, also for a compiler that is too old.
    """
    given = given or os.environ.get(VARIABLE)
    compiler = _compiler(given)
    if compiler is None:
        what = f"no Arm compiler at {given}" if given else f"{GCC} is not on PATH"
        raise ToolMissing(what, hint=_hint(given))
    return _check(compiler, compiler.stat().st_mtime_ns)


def _hint(given: str | None) -> str:
    """How to get the compiler that was asked for."""
    return ARM_INSTALL if given and ARMCLANG in Path(given).name else INSTALL


def _compiler(given: str | None) -> Path | None:
    if given is None or not Path(given).is_dir():
        found = shutil.which(given or GCC)
        return Path(found).absolute() if found else None
    folders = (Path(given), Path(given, "bin"))
    for name in (GCC, ARMCLANG):
        for folder in folders:
            found = shutil.which(name, path=str(folder))
            if found:
                return Path(found).absolute()
    return None


@functools.cache
def _check(compiler: Path, _modified: int) -> Toolchain:
    kind: Kind = "armclang" if ARMCLANG in compiler.name else "gcc"
    answer = run_build_tool(
        [compiler, "--version"], what="asking its version", timeout_s=_TIMEOUT_S
    )
    release = next((line for line in answer.output.splitlines() if _VERSION[kind].search(line)), "")
    match = _VERSION[kind].search(release)
    if answer.code or match is None:
        hint = _hint(str(compiler))
        raise ToolMissing(f"{compiler} does not say which compiler it is", hint=hint)
    oldest = _OLDEST[kind]
    if tuple(map(int, match.groups())) < oldest:
        wanted = ".".join(map(str, oldest))
        raise ToolMissing(
            f"{compiler} is version {'.'.join(match.groups())}, older than {wanted}",
            hint=_hint(str(compiler)),
        )
    return Toolchain(kind, compiler, release.strip())
