"""Firmware for EVBs: neuralSPOT's own make on an app folder of ours, outside of its tree."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.base.templates import render
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.firmware import BuildOptions, own_sources
from pytest_autodeploy.image.image_builder import ImageBuilder
from pytest_autodeploy.image.neuralspot_make import NeuralSpotMake, require_plain
from pytest_autodeploy.image.recipe import Buffers, Plan
from pytest_autodeploy.image.sources import generate, write_changed, write_sources

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image

BUFFERS = Buffers(message_bytes=4096, window_bytes=16 * 1024, log_bytes=4096)

_APP = "autodeploy"
_NOT_THE_VALIDATORS = ("engine_echo.cc", "power_board.cc")


class NeuralSpotBuilder(ImageBuilder):
    """Builds for one EVB; nothing is looked for before the first ``build``.

    ``emulated`` is the id of a board that runs the image without being one of Ambiq's: its runtime
    must have a licence that allows that.
    """

    _buffers = BUFFERS

    def __init__(self, spec: BoardSpec, options: BuildOptions, emulated: str = "") -> None:
        super().__init__(spec, options)
        self._emulated = emulated
        # the library with error strings, which names layers, too
        self._make = NeuralSpotMake(spec, options, f"building for {spec.name}", "MLPROFILE=1")

    @cached_property
    def _inputs(self) -> dict[str, object]:
        """Digests of all that goes in but for the model and what follows from it."""
        return {**own_sources(), **self._make.inputs}

    @property
    def _engine_version(self) -> str:
        return self._make.runtime.version

    @property
    def _folder(self) -> str:
        return self._make.folder

    def plan(self, image: Image) -> Plan:
        if self._emulated:
            self._make.runtime.require_emulation(self._emulated)
        plan = super().plan(image)
        outside = plan.recipe.context["outside"]
        if outside and self._make.toolchain.kind == "armclang":
            names = " and ".join(each["name"].upper() for each in outside)
            raise BuildError(
                f"neuralSPOT's armclang builds have no place for data in {names}",
                hint="build with arm-none-eabi-gcc, or choose a memory on the chip",
            )
        return plan

    def _compile(self, plan: Plan, place: Path) -> dict[str, Path]:
        firmware = resource("firmware")
        require_plain(firmware)
        app = place / "app" / _APP
        write_sources(app / "src", generate(plan.recipe, plan.build_id))
        write_changed(app / "module.mk", render("module.mk", _module(firmware, app, plan)))
        folder = self._make.make(app, place)
        return {suffix: folder / f"{_APP}{suffix}" for suffix in (".axf", ".bin")}


def _module(firmware: Path, app: Path, plan: Plan) -> dict[str, object]:
    """What the module.mk of the app folder is made from."""
    sources = [path.as_posix() for path in app_sources(firmware)]
    generated = [path.as_posix() for path in sorted((app / "src").glob("*.cc"))]
    return {
        "name": app.name,
        "outside": plan.recipe.context["outside"],
        "firmware": firmware.as_posix(),
        "generated": (app / "src").as_posix(),
        "sources": [*sources, *generated],
    }


def app_sources(firmware: Path) -> list[Path]:
    """What is compiled of the firmware's folder for an EVB."""
    patterns = ("rpc/*.cc", "validator/*.cc", "boards/ambiq/*.cc")
    ours = [path for pattern in patterns for path in sorted(firmware.glob(pattern))]
    return [path for path in ours if path.name not in _NOT_THE_VALIDATORS]
