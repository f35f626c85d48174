"""The app folders of the validator and of the power application, each complete in itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.board.base import Image
from pytest_autodeploy.build import cmake, neuralspot
from pytest_autodeploy.build.key import build_id, build_key
from pytest_autodeploy.build.recipe import Recipe, make_recipe
from pytest_autodeploy.build.render import render
from pytest_autodeploy.build.sources import generate
from pytest_autodeploy.deliver.includes import included_files
from pytest_autodeploy.resources import resource

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.sources import Sources

Files = dict[str, str | bytes]

POWER_INFERENCES = 100
"""In one window of the power application; the host has to be told."""

_HERE = "$(subdirectory)"
_MACHINE_FILES = ("CMakeLists.txt", "cmake/*", "rpc/*", "validator/*", "boards/cortex_m/*")


def validator(sources: Sources) -> Files:
    """The firmware that the tests talk to, as a build makes it, with its own copy of the sources.

    Its arena gets all that its memory has left, as the host tunes the arena over RPC.
    """
    generated = generate(recipe := _recipe(sources), build_id(build_key(recipe.context)))
    files: Files = {f"src/{name}": text for name, text in generated.items()}
    firmware = resource("firmware")
    if sources.board.kind != "hardware":
        board = f"boards/{sources.board.name.replace('-', '_')}"
        patterns = (*_MACHINE_FILES, f"{board}/*", "boards/board.h")
        return files | _copied(firmware, _matching(firmware, patterns)) | _how(sources, "validator")
    compiled = neuralspot.app_sources(firmware)
    files |= _with_headers(firmware, compiled)
    mine = [name for name in files if name.startswith("src/") and name.endswith(".cc")]
    name = "tflm_validator"
    return files | {"module.mk": _module(name, firmware, compiled, mine)} | _how(sources, name)


def power(sources: Sources, model_files: dict[str, str]) -> Files:
    """An app without RPC: it marks windows of inferences on pins when the trigger asks for one."""
    name = sources.name
    unused = {f"{name}_example.c", f"{name}_compare.c", "main.c", "example_console.h"}
    context = {**sources.context, "inferences": POWER_INFERENCES}
    kept = {file: text for file, text in model_files.items() if file not in unused}
    kept["power_main.cc"] = render("power_main.cc", context, "deliver")
    recipe = _recipe(sources)
    kept["autodeploy_config.h"] = generate(recipe, build_id(build_key(recipe.context)))[
        "autodeploy_config.h"
    ]
    firmware = resource("firmware")
    compiled = [
        *(path for path in neuralspot.app_sources(firmware) if path.parent.name == "ambiq"),
        firmware / "validator" / "power_run.cc",
    ]
    files: Files = {f"src/{file}": text for file, text in kept.items()}
    files |= _with_headers(firmware, compiled)
    mine = [file for file in files if file.startswith("src/") and file.endswith(".cc")]
    app = f"{name}_power"
    return files | {"module.mk": _module(app, firmware, compiled, mine)} | _how(sources, app)


def _recipe(sources: Sources) -> Recipe:
    """Of the validator, with the memories that were chosen for the library."""
    hardware = sources.board.kind == "hardware"
    return make_recipe(
        Image(sources.model),
        sources.board,
        engine="tflm",
        engine_version=sources.runtime.version if sources.runtime else "unknown",
        places=neuralspot.places_of(sources.board) if hardware else cmake.PLACES,
        buffers=neuralspot.BUFFERS if hardware else cmake.BUFFERS,
        model_memory=sources.placement.model_memory,
    )


def _module(name: str, firmware: Path, compiled: Iterable[Path], mine: Iterable[str]) -> str:
    """The module.mk of a folder, wherever it lies."""
    copies = [f"{_HERE}/firmware/{path.relative_to(firmware).as_posix()}" for path in compiled]
    return render(
        "module.mk",
        {
            "name": name,
            "firmware": f"{_HERE}/firmware",
            "generated": f"{_HERE}/src",
            "sources": [*copies, *(f"{_HERE}/{file}" for file in sorted(mine))],
        },
    )


def _with_headers(firmware: Path, compiled: Iterable[Path]) -> Files:
    sources = list(compiled)
    headers = included_files((path.read_bytes() for path in sources), [firmware])
    return _copied(firmware, [*sources, *headers.values()])


def _matching(firmware: Path, patterns: Iterable[str]) -> list[Path]:
    found = (path for pattern in patterns for path in sorted(firmware.glob(pattern)))
    return [path for path in found if path.is_file()]


def _copied(firmware: Path, paths: Iterable[Path]) -> Files:
    return {
        f"firmware/{path.relative_to(firmware).as_posix()}": path.read_bytes() for path in paths
    }


def _how(sources: Sources, app: str) -> Files:
    """How the folder is built, as a README."""
    spec = sources.board
    context = {
        "app": app,
        "title": sources.model.name,
        "board": spec,
        "machine": spec.name.replace("-", "_"),
        "inferences": POWER_INFERENCES,
        "power": app.endswith("_power"),
    }
    return {"README.md": render("app_README.md", context, "deliver")}
