"""The arena of a library: what was measured, and what another core or TFLM may need beyond it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.catalog.boards import BoardSpec
from pytest_autodeploy.deliver.characterization import ALIGNMENT, Characterization
from pytest_autodeploy.model.arena import kernel_buffer_bytes
from pytest_autodeploy.model.graph import Model

OBJECTS_BYTES = 512
"""How much larger TFLM's own objects may be in another version."""


@dataclass(frozen=True)
class Arena:
    """Bytes of a library's tensor arena; ``margin_bytes`` of them were not measured."""

    bytes: int
    margin_bytes: int


def arena_for(
    characterization: Characterization,
    model: Model,
    board: BoardSpec,
    engine_version: str | None,
    padding: int = 0,
) -> Arena:
    """The arena of the model on a board whose TFLM is ``engine_version``, None when unknown.

    What was measured holds for the same core and the same TFLM. For others there is a margin: the
    buffers of the kernels that differ between cores, and some bytes for TFLM's own objects.
    ``padding`` are bytes that a user wants beyond that.
    """
    place = characterization.place
    same = place.core == board.core and place.engine_version == engine_version
    measured = same and place.source != "modelled"
    margin = padding + (0 if measured else kernel_buffer_bytes(model) + OBJECTS_BYTES)
    whole = _align(characterization.arena_bytes + margin)
    return Arena(whole, whole - _align(characterization.arena_bytes) if margin else 0)


def _align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
