"""What a builder of firmware does, whichever tool compiles: plan an image, and build it once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base import trace
from pytest_autodeploy.image.cache import BuildCache, Built, default_folder
from pytest_autodeploy.image.debug_build import keep_build
from pytest_autodeploy.image.recipe import Buffers, Engine, Plan, decide, make_recipe

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.image.image import Image


class ImageBuilder(ABC):
    """Builds images for one board; nothing is looked for before the first ``build``."""

    _buffers: Buffers
    _engine: Engine = "tflm"

    def __init__(self, spec: BoardSpec, options: BuildOptions) -> None:
        self._spec = spec
        self._options = options
        self._cache = BuildCache(options.cache or default_folder())

    @property
    def _shared(self) -> bool:
        """Whether models with the same operators share an image, into which the host loads them."""
        return False

    @property
    @abstractmethod
    def _inputs(self) -> Mapping[str, object]:
        """Digests of all that goes in but for the model and what follows from it."""

    @property
    @abstractmethod
    def _engine_version(self) -> str:
        """The version of the engine that is linked."""

    @property
    @abstractmethod
    def _folder(self) -> str:
        """Name of the build folder: another one for each set of options that the tool keeps."""

    @abstractmethod
    def _compile(self, plan: Plan, place: Path) -> dict[str, Path]:
        """Build in a folder; gives the files by suffix."""

    def plan(self, image: Image) -> Plan:
        """What is to be built. Raises as ``build``, before anything is compiled."""
        recipe = make_recipe(
            image,
            self._spec,
            self._shared,
            engine=self._engine,
            engine_version=self._engine_version,
            buffers=self._buffers,
            model_memory=self._options.model_memory,
            arena_memory=self._options.arena_memory,
        )
        return Plan(recipe, {**self._inputs, **recipe.context})

    def placement(self, image: Image) -> Placement:
        """Where an image has its model and its arena. Raises ModelDoesNotFit."""
        options = self._options
        memories = {"model_memory": options.model_memory, "arena_memory": options.arena_memory}
        return decide(image, self._spec, self._shared, **memories)

    def build(self, image: Image) -> Built:
        """The firmware of an image, from the cache when nothing that goes in has changed.

        Raises ModelDoesNotFit, ToolMissing, TreeError, BuildError.
        """
        with trace.span("build", model=image.model.name, board=self._spec.name):
            return self._build(self.plan(image))

    def _build(self, plan: Plan) -> Built:
        built = self._cache.get_or_build(
            plan.key,
            self._folder,
            partial(self._compile, plan),
            facts=plan.facts,
            timeout_s=self._options.timeout_s,
        )
        if self._options.keep:
            folder = self._options.keep / f"{self._spec.name}-{built.build_id}"
            keep_build(built, folder, self._spec)
        return built
