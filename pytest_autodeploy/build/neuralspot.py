"""Firmware for EVBs: neuralSPOT's own make on an app folder of ours, outside of its tree."""

from __future__ import annotations

import re
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.build.cache import HINT, BuildCache, Built, default_folder
from pytest_autodeploy.build.errors import BuildError
from pytest_autodeploy.build.failure import build_failure
from pytest_autodeploy.build.firmware import (
    JOBS,
    BuildOptions,
    build_environment,
    own_sources,
)
from pytest_autodeploy.build.key import build_key, content_digest, stat_digest
from pytest_autodeploy.build.recipe import Buffers, Places, Plan, make_recipe
from pytest_autodeploy.build.render import render
from pytest_autodeploy.build.sources import generate, write_changed, write_sources
from pytest_autodeploy.build.tool import find_program, run_build_tool
from pytest_autodeploy.build.toolchain import Kind, Toolchain, find_toolchain
from pytest_autodeploy.build.trees import Sdk, TflmTree, find_sdk
from pytest_autodeploy.resources import resource

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Image
    from pytest_autodeploy.board.catalog import BoardSpec

INSTALL = "Debian and Ubuntu: apt install make."
BUFFERS = Buffers(message_bytes=4096, window_bytes=16 * 1024, log_bytes=4096)

_APP = "autodeploy"
_TOOLCHAINS: dict[Kind, str] = {"gcc": "arm-none-eabi", "armclang": "arm"}
_SECTION = '__attribute__((section("{}")))'.format
_APOLLO3 = Places(  # where its linker script puts things: its default is SRAM
    model={"mram": "", "sram": _SECTION(".data.model")},
    arena={"sram": "", "dtcm": _SECTION(".tcm.arena")},
)
_OTHERS = Places(  # their default is TCM
    model={"mram": "", "sram": _SECTION(".shared")},
    arena={"sram": _SECTION(".sram_bss"), "dtcm": ""},
    inputs=_SECTION(".sram_bss"),
)
_SDK_FOLDERS = (
    *("Makefile", "make", "neuralspot"),
    *("extern/CMSIS", "extern/codecs", "extern/drivers", "extern/erpc"),
)


class NeuralSpotBuilder:
    """Builds for one EVB; nothing is looked for before the first ``build``."""

    def __init__(self, spec: BoardSpec, options: BuildOptions) -> None:
        self._spec = spec
        self._options = options
        self._cache = BuildCache(options.cache or default_folder())
        self._needed = f"building for {spec.name}"

    @cached_property
    def _toolchain(self) -> Toolchain:
        return find_toolchain(self._options.toolchain)

    @cached_property
    def _sdk(self) -> Sdk:
        return find_sdk(self._options.sdk)

    @cached_property
    def _runtime(self) -> TflmTree:
        runtime = self._sdk.runtime(self._options.tflm_root)
        runtime.library(self._spec.core)
        return runtime

    @cached_property
    def _suite(self) -> str:
        return self._sdk.ambiqsuite(self._spec.ambiqsuite)

    @cached_property
    def _inputs(self) -> dict[str, object]:
        """Digests of all that goes in but for the model and what follows from it."""
        suite = f"extern/AmbiqSuite/{self._suite}"
        return {
            **own_sources(),
            "compiler": self._toolchain.release,
            "sdk": stat_digest(self._sdk.root, *_SDK_FOLDERS, suite),
            "runtime": content_digest(self._runtime.root),
            "variables": self._variables,
        }

    @cached_property
    def _variables(self) -> list[str]:
        """What neuralSPOT's make is told, but for paths."""
        return [
            f"PLATFORM={self._spec.name}",
            f"AS_VERSION={self._suite}",
            f"TF_VERSION={self._runtime.version}",
            f"TOOLCHAIN={_TOOLCHAINS[self._toolchain.kind]}",
            "AUTODEPLOY=1",
            "BLE_SUPPORTED=0",
            "MLPROFILE=1",  # the library with error strings, which names layers, too
        ]

    @cached_property
    def _folder(self) -> str:
        parts = {
            "sdk": str(self._sdk.root),
            "compiler": str(self._toolchain.compiler),
            "release": self._toolchain.release,
            "variables": self._variables,
        }
        return f"{self._spec.name}-{build_key(parts)[:12]}"

    def plan(self, image: Image) -> Plan:
        """What is to be built. Raises as ``build``, before anything is compiled."""
        recipe = make_recipe(
            image,
            self._spec,
            engine="tflm",
            engine_version=self._runtime.version,
            places=_APOLLO3 if self._spec.soc.startswith("apollo3p") else _OTHERS,
            buffers=BUFFERS,
            model_memory=self._options.model_memory,
            arena_memory=self._options.arena_memory,
        )
        return Plan(recipe, {**self._inputs, **recipe.context})

    def build(self, image: Image) -> Built:
        plan = self.plan(image)
        return self._cache.get_or_build(
            plan.key,
            self._folder,
            partial(self._compile, plan),
            facts=plan.facts,
            timeout_s=self._options.timeout_s,
        )

    def _compile(self, plan: Plan, place: Path) -> dict[str, Path]:
        firmware = resource("firmware")
        for path in (self._sdk.root, place, firmware):
            _require_plain(path)
        app = place / "app" / _APP
        write_sources(app / "src", generate(plan.recipe, plan.build_id))
        write_changed(app / "module.mk", render("module.mk", _module(firmware, app, _APP)))
        output = place / "out"
        self._make(place, [f"ADPATH={app.parent}", f"EXAMPLE={_APP}", f"BINDIRROOT={output}"])
        folder = output / "images"
        return {suffix: folder / f"{_APP}{suffix}" for suffix in (".axf", ".bin")}

    def _make(self, place: Path, paths: list[str]) -> None:
        make = find_program("make", needed=self._needed, install=INSTALL)
        done = run_build_tool(
            [make, "-C", self._sdk.root, f"-j{JOBS}", *self._variables, *paths, "all"],
            what=self._needed,
            timeout_s=self._options.timeout_s,
            environment=build_environment(self._toolchain),
        )
        (place / "build.log").write_text(done.output, encoding="utf-8")
        if done.code:
            raise build_failure(self._needed, done.output)


def _module(firmware: Path, app: Path, name: str) -> dict[str, object]:
    """What the module.mk of the app folder is made from."""
    patterns = ("rpc/*.cc", "validator/*.cc", "boards/ambiq/*.cc", "boards/ambiq/*.c")
    ours = [path for pattern in patterns for path in sorted(firmware.glob(pattern))]
    sources = [path.as_posix() for path in ours if "echo" not in path.name]
    generated = [path.as_posix() for path in sorted((app / "src").glob("*.cc"))]
    return {
        "name": name,
        "firmware": firmware.as_posix(),
        "generated": (app / "src").as_posix(),
        "sources": [*sources, *generated],
    }


def _require_plain(path: Path) -> None:
    """Make takes a path for several words, or for something else, when it has such letters."""
    if re.search(r"[^\w./+@,-]", path.as_posix()):
        raise BuildError(f"neuralSPOT's make cannot work with the path {str(path)!r}", hint=HINT)
