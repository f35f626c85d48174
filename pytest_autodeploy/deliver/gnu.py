"""GNU's compiler and binary tools for a Cortex-M, each run with a deadline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.image.errors import ToolMissing
from pytest_autodeploy.image.failure import build_failure
from pytest_autodeploy.image.firmware import build_environment
from pytest_autodeploy.image.tool import run_build_tool
from pytest_autodeploy.image.toolchain import find_toolchain

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import Core
    from pytest_autodeploy.image.toolchain import Toolchain

CORE_FLAGS: Mapping[Core, tuple[str, ...]] = {
    "cortex-m4f": ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "cortex-m55": ("-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"),
}
CODE_FLAGS = (
    *("-O2", "-Wall", "-Wextra", "-ffunction-sections", "-fdata-sections"),
    *("-fno-exceptions", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
)
CXX_FLAGS = ("-std=c++17", "-fno-rtti", "-fno-threadsafe-statics")


@dataclass(frozen=True)
class Gnu:
    """The tools beside a compiler; ``needed`` says in errors what they are run for."""

    toolchain: Toolchain
    needed: str
    timeout_s: float

    def run(self, tool: str, arguments: Sequence[str | Path], folder: Path) -> str:
        """What a tool such as ``g++`` or ``ld`` writes. Raises its failure as ``build_failure``."""
        program = self.toolchain.compiler.with_name(f"arm-none-eabi-{tool}")
        done = run_build_tool(
            [program, *arguments],
            what=self.needed,
            timeout_s=self.timeout_s,
            folder=folder,
            environment=build_environment(self.toolchain),
        )
        if done.code:
            raise build_failure(self.needed, done.output)
        return done.output


def find_gnu(given: str | None, needed: str, timeout_s: float) -> Gnu:
    """The GNU tools. Raises ToolMissing, also when the compiler that is ``given`` is not GNU's."""
    toolchain = find_toolchain(given)
    if toolchain.kind != "gcc":
        raise ToolMissing(
            f"{needed} needs GNU's linker, not {toolchain.kind}",
            hint="choose the GNU Arm toolchain: --evb-toolchain=arm-none-eabi-gcc",
        )
    return Gnu(toolchain, needed, timeout_s)
