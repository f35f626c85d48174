"""Generated app folders, built for an EVB by neuralSPOT's make."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.build.cache import BuildCache, default_folder
from pytest_autodeploy.build.key import build_key, content_digest
from pytest_autodeploy.build.neuralspot_make import NeuralSpotMake
from pytest_autodeploy.deliver.example import Program
from pytest_autodeploy.deliver.footprint import program_footprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_autodeploy.board.catalog import BoardSpec
    from pytest_autodeploy.build.firmware import BuildOptions

_IMAGES = (".axf", ".bin")


class NeuralSpotApps:
    """Builds app folders for one EVB, outside of the SDK; nothing is looked for before that."""

    def __init__(self, spec: BoardSpec, options: BuildOptions) -> None:
        self._spec = spec
        self._options = options
        self._cache = BuildCache(options.cache or default_folder())

    def build(self, app: Path, libraries: Sequence[str] = ()) -> Program:
        """The program of a folder with a ``module.mk`` that names its image after the folder.

        ``libraries`` are the file names of generated ones that it links. Raises ToolMissing,
        TreeError, ModelDoesNotFit, BuildError.
        """
        make = NeuralSpotMake(self._spec, self._options, f"{app.name} for {self._spec.name}")
        suffixes = _IMAGES if make.toolchain.kind == "armclang" else (*_IMAGES, ".map")
        built = self._cache.get_or_build(
            build_key({"app": content_digest(app), "name": app.name, **make.inputs}),
            f"app-{make.folder}",
            partial(_make, make, app, suffixes),
            facts={"app": app.name, "for": self._spec.name},
            timeout_s=self._options.timeout_s,
        )
        files = {suffix: built.file(suffix) for suffix in suffixes}
        if ".map" not in files:
            return Program(files, None)
        return Program(files, program_footprint(files[".axf"], files[".map"], libraries))


def _make(make: NeuralSpotMake, app: Path, suffixes: Sequence[str], place: Path) -> dict[str, Path]:
    """Build a copy: make compiles by times, and the originals may be older than the last build."""
    copy = place / "app" / app.name
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(app, copy, copy_function=shutil.copyfile)
    folder = make.make(copy, place)
    return {suffix: folder / f"{app.name}{suffix}" for suffix in suffixes}
