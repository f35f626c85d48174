"""Making the artifacts that the settings of a run name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.board.order import build_options
from pytest_autodeploy.deliver.files import load
from pytest_autodeploy.deliver.generate import generate

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.run.runtime import Runtime
    from pytest_autodeploy.settings.settings import Settings


def earlier_characterization(settings: Settings, model: Model) -> Characterization | None:
    """The one that the settings name, which touches no board; None when they name none.

    Raises CharacterizationError when the files are not those of the model, or unusable.
    """
    folder = settings.artifacts_from_path
    return load(folder, model) if folder else None


def deliver(
    runtime: Runtime, model: Model, spec: BoardSpec, found: Characterization, out: Path
) -> Delivery:
    """Make the artifacts for a board below ``out``. Raises as ``generate``."""
    settings = runtime.settings
    options = build_options(settings, runtime.boards.build_cache())
    return generate(model, spec, out, settings.artifacts_to_make, found, options)
