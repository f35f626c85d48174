"""What the builders of firmware share: their interface, their options, their environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.image.key import content_digest

if TYPE_CHECKING:
    from pytest_autodeploy.image.cache import Built
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.image.toolchain import Toolchain

JOBS = min(os.cpu_count() or 1, 8)

_OWN = (
    *(f"firmware/{name}" for name in ("CMakeLists.txt", "boards", "cmake", "rpc", "validator")),
    "templates/firmware",
)

_FLAGS = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ASMFLAGS", "MAKEFLAGS", "MAKELEVEL")
"""Variables that would change a build without being a part of its key."""


class Builder(Protocol):
    """Makes the firmware of a model for one board."""

    def build(self, image: Image) -> Built:
        """The firmware of an image, from the cache when nothing that goes in has changed.

        Raises ModelDoesNotFit, ToolMissing, TreeError, BuildError.
        """


@dataclass(frozen=True)
class BuildOptions:
    """What a user may say about builds; None is the variable of the environment, or the default.

    ``arena_padding`` are bytes of deliverables' arenas; ``keep`` is a folder for copies of images.
    """

    tflm_root: str | None = None
    sdk: str | None = None
    toolchain: str | None = None
    cache: Path | None = None
    model_memory: str | None = None
    arena_memory: str | None = None
    tflm_memory: str = "mram"
    arena_padding: int = 0
    ambiqsuite: str | None = None
    keep: Path | None = None
    timeout_s: float = 600.0


def firmware_folder() -> Path:
    """The C and C++ of this project that runs on boards."""
    return resource("firmware")


def own_sources() -> dict[str, str]:
    """Digests of what this project puts into every firmware."""
    return {name: content_digest(resource(name)) for name in _OWN}


def build_environment(toolchain: Toolchain) -> dict[str, str]:
    """The environment of a build: the compiler first on PATH, messages in English, no flags."""
    kept = {name: value for name, value in os.environ.items() if name not in _FLAGS}
    path = os.pathsep.join([str(toolchain.folder), kept.get("PATH", os.defpath)])
    return kept | {"PATH": path, "LC_ALL": "C"}
