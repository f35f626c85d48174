"""Images of a model's power application, from what was found out about it on another board."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_autodeploy.board.order import build_options
from pytest_autodeploy.deliver import apps, folders
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.run.delivery import earlier_characterization

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.settings.settings import Settings


class PowerImages:
    """Builds the application for a board; raises CharacterizationError, ModelDoesNotFit."""

    def __init__(
        self, model: Model, spec: BoardSpec, settings: Settings, cache: Path | None
    ) -> None:
        found = earlier_characterization(settings, model)
        assert found is not None  # the settings were checked
        self._spec = spec
        self._options = build_options(settings, cache)
        self._sources = Sources(
            found,
            model,
            spec,
            model_memory=self._options.model_memory,
            arena_memory=self._options.arena_memory,
            arena_padding=self._options.arena_padding,
        )

    @property
    def placement(self) -> Placement:
        """Where the image has the model and its arena."""
        return self._sources.placement

    @cached_property
    def _builder(self) -> NeuralSpotApps:
        return NeuralSpotApps(self._spec, self._options)

    def build(self, mode: Mode, inferences: int) -> Path:
        """The image of a clock mode, with so many inferences in a window. Raises BuildError."""
        name = folders.folder_name("power", self._sources.name)
        files = apps.power(self._sources, mode, inferences)
        return self._builder.build(name, files).files[".bin"]
