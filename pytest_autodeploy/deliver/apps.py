"""The app folders of the validator and of the power application, each complete in itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.base.templates import render
from pytest_autodeploy.deliver.includes import included_files
from pytest_autodeploy.image import cmake, neuralspot
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.key import build_id, build_key
from pytest_autodeploy.image.recipe import make_recipe
from pytest_autodeploy.image.sources import generate

if TYPE_CHECKING:
    from typing import Literal

    from pytest_autodeploy.deliver.replace import Files
    from pytest_autodeploy.deliver.sources import Sources

    Mode = Literal["HP", "LP"]

POWER_INFERENCES = 100
"""In one window of the power application; the host has to be told."""

_CLOCKS = {"HP": "kHighPerformance", "LP": "kLowPower"}

_POWER_SOURCES = (
    *("boards/ambiq/core.cc", "boards/ambiq/pins.cc", "boards/ambiq/power_board.cc"),
    "validator/power_run.cc",
)
"""What ships has no link and no profiler: neither has what its energy is measured of."""

_HERE = "$(subdirectory)"
_MACHINE_FILES = ("CMakeLists.txt", "cmake/*", "rpc/*", "validator/*", "boards/cortex_m/*")


def validator(sources: Sources) -> Files:
    """The firmware that the tests talk to, as a build makes it, with its own copy of the sources.

    Its arena gets all that its memory has left, as the host tunes the arena over RPC.
    """
    files: Files = {f"src/{name}": text for name, text in _generate(sources).items()}
    firmware = resource("firmware")
    if not sources.board.has_sdk:
        board = f"boards/{sources.board.name.replace('-', '_')}"
        patterns = (*_MACHINE_FILES, f"{board}/*", "boards/board.h")
        return files | _copy(firmware, _matching(firmware, patterns)) | _how(sources, "validator")
    return files | _app("tflm_validator", sources, files, neuralspot.app_sources(firmware))


def power(sources: Sources, mode: Mode = "HP", inferences: int = POWER_INFERENCES) -> Files:
    """An app without RPC: it marks windows of inferences on pins when the trigger asks for one.

    Its pins may be those of the link that it does not have.
    """
    context = {**sources.context, "inferences": inferences, "clock": _CLOCKS[mode]}
    headers = (each for each in sources.example("neuralspot").items() if each[0].endswith(".h"))
    kept = sources.library() | dict(headers)
    del kept["example_console.h"]
    kept["power_main.cc"] = render("power_main.cc", context, "deliver")
    kept["autodeploy_config.h"] = _generate(sources, sources.board.app_pins)["autodeploy_config.h"]
    firmware = resource("firmware")
    compiled = [firmware / name for name in _POWER_SOURCES]
    files: Files = {f"src/{file}": text for file, text in kept.items()}
    return files | _app(f"{sources.name}_power", sources, files, compiled)


def _generate(sources: Sources, pins: Mapping[str, int] | None = None) -> dict[str, str]:
    """The sources of the validator, with the memories that were chosen for the library.

    ``pins`` are those of a power run when they are not the validator's.
    """
    with_sdk = sources.board.has_sdk
    recipe = make_recipe(
        Image(sources.model),
        sources.board,
        engine="tflm",
        engine_version=sources.runtime.version if sources.runtime else "unknown",
        buffers=neuralspot.BUFFERS if with_sdk else cmake.BUFFERS,
        model_memory=sources.placement.model_memory,
        arena_memory=sources.placement.arena_memory,
    )
    if pins is not None:
        recipe = replace(recipe, context={**recipe.context, "power_pins": dict(pins)})
    return generate(recipe, build_id(build_key(recipe.context)))


def _app(name: str, sources: Sources, generated: Iterable[str], compiled: list[Path]) -> Files:
    """What makes generated sources one of neuralSPOT's apps: firmware, module.mk, README."""
    firmware = resource("firmware")
    headers = included_files((path.read_bytes() for path in compiled), [firmware])
    copies = _copy(firmware, [*compiled, *headers.values()])
    paths = sorted(path for path in (*copies, *generated) if path.endswith(".cc"))
    module = {
        "name": name,
        "outside": [],  # a library has nothing outside of the chip
        "firmware": f"{_HERE}/firmware",
        "generated": f"{_HERE}/src",
        "sources": [f"{_HERE}/{path}" for path in paths],
    }
    return copies | {"module.mk": render("module.mk", module)} | _how(sources, name)


def _matching(firmware: Path, patterns: Iterable[str]) -> list[Path]:
    found = (path for pattern in patterns for path in sorted(firmware.glob(pattern)))
    return [path for path in found if path.is_file()]


def _copy(firmware: Path, paths: Iterable[Path]) -> Files:
    return {
        f"firmware/{path.relative_to(firmware).as_posix()}": path.read_bytes() for path in paths
    }


def _how(sources: Sources, app: str) -> Files:
    """How the folder is built, as a README."""
    spec, runtime = sources.board, sources.runtime
    context = {
        "app": app,
        "title": sources.model.name,
        "board": spec,
        "runtime": runtime.version if runtime else "",
        "tflm_lib": runtime.library(spec.core).relative_to(runtime.root) if runtime else "",
        "machine": spec.name.replace("-", "_"),
        "inferences": POWER_INFERENCES,
        "power": app.endswith("_power"),
    }
    return {"README.md": render("app_README.md", context, "deliver")}
