"""Generated app folders, built for an EVB by neuralSPOT's make."""

from __future__ import annotations

import hashlib
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.deliver.example import Program
from pytest_autodeploy.deliver.footprint import program_footprint
from pytest_autodeploy.image.cache import BuildCache, default_folder
from pytest_autodeploy.image.key import build_key
from pytest_autodeploy.image.neuralspot_make import NeuralSpotMake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.deliver.replace import Files
    from pytest_autodeploy.image.firmware import BuildOptions

_IMAGES = (".axf", ".bin")


class NeuralSpotApps:
    """Builds app folders for one EVB, outside of the SDK; nothing is looked for before that."""

    def __init__(self, spec: BoardSpec, options: BuildOptions) -> None:
        self._spec = spec
        self._options = options
        self._cache = BuildCache(options.cache or default_folder())

    def build(self, name: str, files: Files, libraries: Sequence[str] = ()) -> Program:
        """The program of a folder of these ``files``, whose ``module.mk`` calls its image ``name``.

        ``libraries`` are the file names of generated ones that it links. Raises ToolMissing,
        TreeError, ModelDoesNotFit, BuildError.
        """
        make = NeuralSpotMake(self._spec, self._options, f"{name} for {self._spec.name}")
        suffixes = _IMAGES if make.toolchain.kind == "armclang" else (*_IMAGES, ".map")
        app = {file: _bytes(content) for file, content in files.items()}
        digests = {file: hashlib.sha256(data).hexdigest() for file, data in app.items()}
        built = self._cache.get_or_build(
            build_key({"app": digests, "name": name, **make.inputs}),
            f"app-{make.folder}",
            partial(_make, make, name, app, suffixes),
            facts={"app": name, "for": self._spec.name},
            timeout_s=self._options.timeout_s,
        )
        images = {suffix: built.file(suffix) for suffix in suffixes}
        if ".map" not in images:
            return Program(images, None)
        return Program(images, program_footprint(images[".axf"], images[".map"], libraries))


def _make(
    make: NeuralSpotMake, name: str, app: dict[str, bytes], suffixes: Sequence[str], place: Path
) -> dict[str, Path]:
    """All files are written anew: make compiles by times."""
    shutil.rmtree(place / "app", ignore_errors=True)
    folder = place / "app" / name
    for file, data in app.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    images = make.make(folder, place)
    return {suffix: images / f"{name}{suffix}" for suffix in suffixes}


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
