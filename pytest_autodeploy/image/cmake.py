"""Firmware for the emulated boards: CMake, and one build folder for all models of a board."""

from __future__ import annotations

import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import render
from pytest_autodeploy.image.errors import ToolMissing
from pytest_autodeploy.image.failure import build_failure
from pytest_autodeploy.image.firmware import (
    JOBS,
    BuildOptions,
    build_environment,
    firmware_folder,
    own_sources,
)
from pytest_autodeploy.image.image_builder import ImageBuilder
from pytest_autodeploy.image.key import build_key, content_digest
from pytest_autodeploy.image.recipe import Buffers, Engine, Plan
from pytest_autodeploy.image.sources import generate, write_changed, write_sources
from pytest_autodeploy.image.tool import find_program, run_build_tool
from pytest_autodeploy.image.toolchain import Toolchain, find_toolchain
from pytest_autodeploy.image.trees import TflmTree, find_tflm

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec

INSTALL = "Debian and Ubuntu: apt install cmake ninja-build; everywhere: pip install cmake ninja."
BUFFERS = Buffers(message_bytes=16 * 1024, window_bytes=64 * 1024, log_bytes=8 * 1024)


class CMakeBuilder(ImageBuilder):
    """Builds for one machine of QEMU; nothing is looked for before the first ``build``.

    Images of the ``tflm`` engine need a TFLM tree whose licence allows CPUs that are not Ambiq's.
    """

    _buffers = BUFFERS

    def __init__(
        self, spec: BoardSpec, options: BuildOptions, *, board_id: str, engine: Engine = "tflm"
    ) -> None:
        super().__init__(spec, options)
        self._board_id = board_id
        self._engine = engine

    @cached_property
    def _toolchain(self) -> Toolchain:
        toolchain = find_toolchain(self._options.toolchain)
        if toolchain.kind != "gcc":
            raise ToolMissing(
                f"{self._board_id} is built with gcc, not with {toolchain.kind}",
                hint="choose it: --evb-toolchain=arm-none-eabi-gcc",
            )
        return toolchain

    @cached_property
    def _tree(self) -> TflmTree | None:
        if self._engine == "echo":
            return None
        tree = find_tflm(self._options.tflm_root)
        tree.require_emulation(self._board_id)
        return tree

    @cached_property
    def _library(self) -> Path | None:
        return self._tree.library(self._spec.core) if self._tree else None

    @cached_property
    def _inputs(self) -> dict[str, object]:
        """Digests of all that goes in but for the model and what follows from it."""
        tree, library = self._tree, self._library
        return {
            **own_sources(),
            "compiler": self._toolchain.release,
            "engine": self._engine,
            "headers": content_digest(tree.root, ".h", ".hpp") if tree else "",
            "library": content_digest(library) if library else "",
        }

    @property
    def _shared(self) -> bool:
        """The echo engine's tensors are those of the model."""
        return self._engine == "tflm"

    @property
    def _engine_version(self) -> str:
        return self._tree.version if self._tree else "1"

    @cached_property
    def _folder(self) -> str:
        """Name of the build folder: another one for each set of options that CMake keeps."""
        return f"{self._spec.name}-{self._engine}-{build_key({'cmake': self._cmake_options})[:12]}"

    @cached_property
    def _cmake_options(self) -> str:
        return render(
            "options.cmake",
            {
                "board": self._spec.name.replace("-", "_"),
                "engine": self._engine,
                "compiler": self._toolchain.compiler.with_name("arm-none-eabi-g++").as_posix(),
                "tflm_root": self._tree.root.as_posix() if self._tree else "",
                "tflm_library": self._library.as_posix() if self._library else "",
                "source": firmware_folder().as_posix(),
            },
        )

    def _compile(self, plan: Plan, place: Path) -> dict[str, Path]:
        write_sources(place / "generated", generate(plan.recipe, plan.build_id))
        output = place / "cmake"
        # CMake keeps compiler and options in its cache, and goes on with the old ones.
        if write_changed(place / "options.cmake", self._cmake_options):
            shutil.rmtree(output, ignore_errors=True)
        # A configuration that was killed looks whole to CMake.
        if not (output / "firmware.ready").exists():
            self._configure(place, output)
        self._run(place, "build", ["--build", str(output), "--parallel", str(JOBS)])
        return {".elf": output / "autodeploy.elf"}

    def _configure(self, place: Path, output: Path) -> None:
        generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
        if generator != "Ninja":
            find_program("make", needed=f"building for {self._board_id}", install=INSTALL)
        options = ["-G", generator, "-C", str(place / "options.cmake")]
        config = f"-DCONFIG_DIR={(place / 'generated').as_posix()}"
        source = str(firmware_folder())
        self._run(place, "configure", [*options, config, "-S", source, "-B", str(output)])
        (output / "firmware.ready").touch()

    def _run(self, place: Path, step: str, arguments: list[str]) -> None:
        needed = f"building for {self._board_id}"
        cmake = find_program("cmake", needed=needed, install=INSTALL)
        done = run_build_tool(
            [cmake, *arguments],
            what=f"{needed}: {step}",
            timeout_s=self._options.timeout_s,
            environment=build_environment(self._toolchain),
        )
        if done.code:
            (place / "failed.log").write_text(done.output, encoding="utf-8")
            raise build_failure(needed, done.output)
