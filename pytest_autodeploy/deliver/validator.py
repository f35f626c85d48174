"""The firmware that the tests talk to, built as for a run on the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.kinds import real_id
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.cache import Built
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.model.graph import Model


def build_validator(model: Model, board: BoardSpec, options: BuildOptions) -> Built:
    """The firmware of a model, from the cache when a run has built it. Raises as ``Builder``."""
    if board.has_sdk:
        return NeuralSpotBuilder(board, options).build(Image(model))
    return CMakeBuilder(board, options, board_id=real_id(board)).build(Image(model))
