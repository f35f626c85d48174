"""The binaries of a delivery, each as far as its compiler and its trees are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_autodeploy.board.base import Image
from pytest_autodeploy.build.render import render
from pytest_autodeploy.deliver.delivery import LeftOut
from pytest_autodeploy.deliver.example import EmulatedExample, ExampleRun, Program, run_example
from pytest_autodeploy.deliver.library import Library, LibraryBuilder
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.deliver.tree import Tree, replace_files
from pytest_autodeploy.errors import AutodeployError

if TYPE_CHECKING:
    from pytest_autodeploy.build.cache import Built
    from pytest_autodeploy.build.firmware import BuildOptions
    from pytest_autodeploy.deliver.sources import Sources

Result = TypeVar("Result")


def attempt(what: str, make: Callable[[], Result], left_out: list[LeftOut]) -> Result | None:
    """What ``make`` gives; None when it cannot, which is noted with the reason."""
    try:
        return make()
    except AutodeployError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        left_out.append(LeftOut(what, "; ".join(lines).replace(":; ", ": ")))
        return None


class Binaries:
    """Builds what it can for the board of some sources; the rest is in ``left_out``.

    ``written`` are the files of the output folder, ``example`` is how the example ended on QEMU.
    """

    def __init__(
        self, sources: Sources, tree: Tree, builder: LibraryBuilder, options: BuildOptions
    ) -> None:
        self._sources = sources
        self._tree = tree
        self._builder = builder
        self._options = options
        self._files: dict[str, str | bytes] = {}
        self.written: list[Path] = []
        self.left_out: list[LeftOut] = []
        self.library: Library | None = None
        self.program: Program | None = None
        self.example: ExampleRun | None = None

    @property
    def _emulated(self) -> bool:
        return self._sources.board.kind == "emulated"

    def build_library(self) -> None:
        """The library, and an example that links it; on QEMU it is run."""
        name = self._sources.name
        self.library = self._attempt(
            "the library", lambda: self._builder.build(name, self._sources.library())
        )
        if self.library is None:
            self.left_out.append(LeftOut("the example", "it needs the library"))
            return
        self._keep(f"{name}/lib/lib{name}.a", self.library.path)
        make = self._emulated_example if self._emulated else self._neuralspot_example
        self.program = self._attempt("the example", lambda: make(f"lib{name}.a"))
        self._keep_program(f"{name}_example", self.program)
        if self._emulated and self.program:
            self.example = self._attempt("running the example", self._run)

    def build_power(self) -> None:
        """The power application."""
        app = self._tree.power
        apps = NeuralSpotApps(self._sources.board, self._options)
        self._keep_program(app.name, self._attempt("the power binary", lambda: apps.build(app)))

    def build_validator(self) -> None:
        """The firmware that the tests talk to, which a run on the board has built already."""
        built = self._attempt("the validator binary", self._validator)
        for path in sorted(built.folder.glob("autodeploy.*")) if built else ():
            self._keep(f"bin/{self._tree.validator.name}{path.suffix}", path)

    def write(self) -> None:
        """Write what has been built so far, and remove what an earlier call wrote."""
        self.written = replace_files(self._tree.out, self._files, group="binaries")

    def _attempt(self, what: str, make: Callable[[], Result]) -> Result | None:
        return attempt(what, make, self.left_out)

    def _keep(self, name: str, path: Path) -> None:
        self._files[name] = path.read_bytes()

    def _keep_program(self, name: str, program: Program | None) -> None:
        for suffix, path in program.files.items() if program else ():
            self._keep(f"bin/{name}{suffix}", path)

    def _emulated_example(self, _library: str) -> Program:
        assert self.library is not None
        sources, board = self._sources, self._sources.board
        builder = EmulatedExample(board, self._options, board_id=f"qemu:{board.name}")
        return builder.build({sources.name: self.library.path}, sources.example("stdio"))

    def _neuralspot_example(self, library: str) -> Program:
        """Of the folder with the library, which becomes one of neuralSPOT's apps."""
        name = self._sources.name
        compiled = sorted(file for file in self._sources.example("neuralspot") if file[-2:] == ".c")
        context = {"name": name, "sources": compiled}
        self._files[f"{name}/module.mk"] = render("library.mk", context, "deliver")
        self.write()
        apps = NeuralSpotApps(self._sources.board, self._options)
        return apps.build(self._tree.library, [library])

    def _run(self) -> ExampleRun:
        assert self.program is not None
        return run_example(self.program.files[".elf"], self._sources.board)

    def _validator(self) -> Built:
        from pytest_autodeploy.build.cmake import CMakeBuilder
        from pytest_autodeploy.build.neuralspot import NeuralSpotBuilder

        board, image = self._sources.board, Image(self._sources.model)
        if self._emulated:
            board_id = f"qemu:{board.name}"
            return CMakeBuilder(board, self._options, board_id=board_id).build(image)
        return NeuralSpotBuilder(board, self._options).build(image)
