"""The binaries of a delivery, each as far as its compiler and its trees are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.deliver import apps, folders
from pytest_autodeploy.deliver.delivery import LeftOut
from pytest_autodeploy.deliver.example import EmulatedExample, ExampleRun, Program, run_example
from pytest_autodeploy.deliver.library import Library, LibraryBuilder
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.deliver.replace import Files, replace_files
from pytest_autodeploy.deliver.validator import build_validator

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.footprint import Footprint
    from pytest_autodeploy.deliver.sources import Sources
    from pytest_autodeploy.image.firmware import BuildOptions

Result = TypeVar("Result")


def attempt(
    what: str, make: Callable[[], Result], left_out: list[LeftOut], artifact: str = ""
) -> Result | None:
    """What ``make`` gives; None when it cannot, which is noted with the reason."""
    try:
        return make()
    except AutodeployError as error:
        left_out.append(LeftOut.of(what, error, artifact))
        return None


class Binaries:
    """Builds what it can for the board of some sources; the rest is in ``left_out``.

    ``example`` is how the example ended on QEMU. ``of_all_types`` is what the library would take
    with kernels for all types, where TFLM has others.
    """

    def __init__(self, sources: Sources, builder: LibraryBuilder, options: BuildOptions) -> None:
        self._sources = sources
        self._builder = builder
        self._options = options
        self._files: Files = {}
        self.left_out: list[LeftOut] = []
        self.library: Library | None = None
        self.program: Program | None = None
        self.example: ExampleRun | None = None
        self.of_all_types: Footprint | None = None

    @property
    def _apps(self) -> NeuralSpotApps:
        return NeuralSpotApps(self._sources.board, self._options)

    def build_library(self) -> None:
        """The library, and an example that links it; on QEMU it is run."""
        name = self._sources.name
        self.library = self._attempt(
            "the library", lambda: self._builder.build(name, self._sources.library()), "library"
        )
        if self.library is None:
            self.left_out.append(LeftOut("the example", "it needs the library"))
            return
        self._keep(f"{name}/lib/lib{name}.a", self.library.path)
        if self._sources.typed:
            whole = self._builder.build(name, self._sources.library_of_all_types())
            self.of_all_types = replace(whole.footprint, what="library, all types")
        make = self._neuralspot_example if self._sources.board.has_sdk else self._emulated_example
        self.program = self._attempt("the example", partial(make, self.library))
        self._keep_program(f"{name}_example", self.program)
        if self.program and not self._sources.board.has_sdk:
            run = partial(run_example, self.program.files[".elf"], self._sources.board)
            self.example = self._attempt("running the example", run)

    def build_power(self) -> None:
        """The power application."""
        name, files = folders.folder_name("power", self._sources.name), apps.power(self._sources)
        build = partial(self._apps.build, name, files)
        self._keep_program(name, self._attempt("the power binary", build, "power"))

    def build_validator(self) -> None:
        """The firmware that the tests talk to, which a run on the board has built already."""
        build = partial(build_validator, self._sources.model, self._sources.board, self._options)
        built = self._attempt("the validator binary", build, "validator")
        for path in sorted(built.folder.glob("autodeploy.*")) if built else ():
            self._keep(f"bin/tflm_validator{path.suffix}", path)

    def write(self, out: Path) -> list[Path]:
        """Write what has been built, and remove what an earlier call for the model wrote."""
        return replace_files(out, self._files, group=f"{self._sources.name}-binaries")

    def _attempt(self, what: str, make: Callable[[], Result], artifact: str = "") -> Result | None:
        return attempt(what, make, self.left_out, artifact)

    def _keep(self, name: str, path: Path) -> None:
        self._files[name] = path.read_bytes()

    def _keep_program(self, name: str, program: Program | None) -> None:
        for suffix, path in program.files.items() if program else ():
            self._keep(f"bin/{name}{suffix}", path)

    def _emulated_example(self, library: Library) -> Program:
        sources = self._sources
        builder = EmulatedExample(sources.board, self._options)
        return builder.build({sources.name: library.path}, sources.example("stdio"))

    def _neuralspot_example(self, library: Library) -> Program:
        """Of the folder with the library, which is one of neuralSPOT's apps."""
        name = self._sources.name
        file = f"lib{name}.a"
        files = folders.library(self._sources) | {f"lib/{file}": library.path.read_bytes()}
        return self._apps.build(name, files, [file])
