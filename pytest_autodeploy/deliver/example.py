"""The example of a model, linked with its library for a machine of QEMU and run there."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.board.emulated import INSTALL, QEMU
from pytest_autodeploy.catalog.kinds import real_id
from pytest_autodeploy.deliver.footprint import Footprint, program_footprint
from pytest_autodeploy.deliver.gnu import CODE_FLAGS, CORE_FLAGS, CXX_FLAGS, Gnu, find_gnu
from pytest_autodeploy.image.cache import BuildCache, default_folder
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.key import build_key, content_digest
from pytest_autodeploy.image.sources import write_sources
from pytest_autodeploy.image.tool import find_program, run_build_tool

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.firmware import BuildOptions

RUN_TIMEOUT_S = 60.0

_SHARED = Path("boards", "cortex_m")
_BOARD = ("cmsdk_uart", "fault", "no_system_calls", "protection", "startup", "systick")
_LINK = ("-nostartfiles", "-Wl,--gc-sections", "-Wl,--fatal-warnings", "-Wl,-Map=example.map")


@dataclass(frozen=True)
class Program:
    """A linked program: its files by suffix, and what its parts take where that is known."""

    files: Mapping[str, Path]
    footprint: Footprint | None


@dataclass(frozen=True)
class ExampleRun:
    """How an example ended: its status, 0 when all outputs match, and all that it printed."""

    status: int
    output: str


class EmulatedExample:
    """Links examples for one machine of QEMU with the start-up code of the emulated boards.

    ``board_id`` is what errors call the machine; by default what a user types for it.
    """

    def __init__(
        self, spec: BoardSpec, options: BuildOptions, *, board_id: str | None = None
    ) -> None:
        self._spec = spec
        self._options = options
        self._needed = f"the example for {board_id or real_id(spec)}"
        self._cache = BuildCache(options.cache or default_folder())
        self._firmware = resource("firmware")
        self._folder = self._firmware / "boards" / spec.name.replace("-", "_")

    @cached_property
    def _gnu(self) -> Gnu:
        return find_gnu(self._options.toolchain, self._needed, self._options.timeout_s)

    def build(self, libraries: Mapping[str, Path], sources: Mapping[str, str]) -> Program:
        """The program of C sources (text by file name) and libraries (by the name of the model).

        Its ``main`` returns its status.

        Raises ToolMissing, ModelDoesNotFit, BuildError.
        """
        facts = {
            "sources": sources,
            "libraries": {name: content_digest(path) for name, path in libraries.items()},
            "compiler": self._gnu.toolchain.release,
            "flags": self._flags,
            "board": content_digest(self._folder),
            "start": [content_digest(self._firmware / part) for part in (_SHARED, "example")],
        }
        built = self._cache.get_or_build(
            build_key(facts),
            f"example-{self._spec.name}",
            partial(self._make, libraries, sources),
            facts={"example": list(libraries), "for": self._spec.name},
            timeout_s=self._options.timeout_s,
        )
        program, link_map = built.file(".elf"), built.file(".map")
        footprint = program_footprint(program, link_map, list(map(_file, libraries)))
        return Program({".elf": program, ".map": link_map}, footprint)

    @property
    def _flags(self) -> list[str]:
        return [*CORE_FLAGS[self._spec.core], *CODE_FLAGS]

    def _make(
        self, libraries: Mapping[str, Path], sources: Mapping[str, str], place: Path
    ) -> dict[str, Path]:
        source, work = place / "src", place / "work"
        write_sources(source, sources)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for name, path in libraries.items():
            shutil.copyfile(path, work / _file(name))
        files = sorted(path for path in source.iterdir() if path.suffix == ".c")
        own = ["-std=c11", "-Dmain=example_main", "-I", str(source)]
        self._gnu.run("gcc", [*self._flags, *own, "-c", *files], work)
        linked = [*(f"{path.stem}.o" for path in files), *map(_file, libraries)]
        self._gnu.run("g++", [*self._board(), *linked, "-o", "example.elf"], work)
        return {".elf": work / "example.elf", ".map": work / "example.map"}

    def _board(self) -> list[str]:
        """What the linking compiler is told: the board's start-up code and memories."""
        shared = self._firmware / _SHARED
        sources = [self._firmware / "example" / "emulated.cc"]
        sources += [shared / f"{name}.cc" for name in _BOARD]
        includes = [word for path in (self._firmware, self._folder) for word in ("-I", str(path))]
        script = [f"-T{self._folder / 'memory.ld'}", f"-L{shared}"]
        return [*self._flags, *CXX_FLAGS, *includes, *map(str, sources), *_LINK, *script]


def _file(name: str) -> str:
    """The file name of a model's library."""
    return f"lib{name}.a"


def run_example(program: Path, spec: BoardSpec, timeout_s: float = RUN_TIMEOUT_S) -> ExampleRun:
    """Run a linked example on QEMU to its end. Raises ToolMissing, BuildError when it has none."""
    what = f"the example on qemu:{spec.name}"
    qemu = find_program(QEMU, needed=what, install=INSTALL)
    machine = ["-machine", spec.name, "-display", "none", "-monitor", "none"]
    # By semihosting (SYS_EXIT_EXTENDED) the status of the program becomes that of QEMU; a machine
    # of QEMU does not end by itself. target=native: else QEMU would ask a debugger, if one is
    # there.
    links = ["-serial", "stdio", "-semihosting-config", "enable=on,target=native"]
    done = run_build_tool(
        [qemu, *machine, *links, "-kernel", program], what=what, timeout_s=timeout_s
    )
    if done.code is None or done.code < 0:
        raise BuildError(
            f"{what}: QEMU {done.how}", hint="`autodeploy doctor` tells of a QEMU that does not fit"
        )
    return ExampleRun(done.code, done.output)
