"""Where the library has the model and the arena on the board that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.fit import (
    ARENA_MEMORIES,
    IMAGE_MEMORY,
    LOADED_MEMORY,
    Placement,
    place,
)
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.places import places_of
from pytest_autodeploy.image.recipe import decide

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.model.graph import Model


def place_deliverable(
    model: Model,
    board: BoardSpec,
    found: Characterization,
    arena_bytes: int,
    *,
    model_memory: str | None = None,
    arena_memory: str | None = None,
) -> Placement:
    """Where the firmware had model and arena when it was tried on this board, else as it would.

    Raises ModelDoesNotFit.
    """
    tried = found.place
    if tried.name == board.name and tried.source != "modelled":
        model_memory = model_memory or tried.model_memory
        arena_memory = arena_memory or tried.arena_memory
    memories = {"model_memory": model_memory, "arena_memory": arena_memory}
    chosen = decide(Image(model), board, **memories)
    if chosen.model_loaded:
        raise _too_large(model, board)
    _require_on_chip(board, model_memory, arena_memory)
    # The arena is of a size that is known: what the likely one had room in may be too small for it.
    larger = ARENA_MEMORIES[ARENA_MEMORIES.index(chosen.arena_memory) :]
    places = places_of(board)
    able = [name for name in larger if name in board.memories and name in places.arena]
    able = [name for name in able if name not in places.outside]
    return place(
        board,
        model.size_bytes,
        arena_bytes,
        model_memories=[chosen.model_memory],
        arena_memories=[chosen.arena_memory] if arena_memory else able,
        copied_from=places.copied_from or None,
    )


def _too_large(model: Model, board: BoardSpec) -> ModelDoesNotFit:
    size, room = model.size_bytes / 1024, board.memories[IMAGE_MEMORY].usable / 1024
    return ModelDoesNotFit(
        f"{model.name} cannot be delivered for {board.name}: it has {size:,.1f} KB, and "
        f"{IMAGE_MEMORY.upper()} has room for {room:,.1f} KB; the tests load it over the link into "
        f"{LOADED_MEMORY.upper()}, after each start",
        hint="make the model smaller, or let your program read it into memory that it has started "
        "and run it there with TFLM",
    )


def _require_on_chip(board: BoardSpec, model_memory: str | None, arena_memory: str | None) -> None:
    """A library is linked into any program, and starts no memory for it. Raises ModelDoesNotFit."""
    outside = places_of(board).outside
    for what, memory in (("model", model_memory), ("arena", arena_memory)):
        if (memory or "").lower() in outside:
            raise ModelDoesNotFit(
                f"a library cannot have its {what} in {str(memory).upper()} of {board.name}, "
                "which a program has to start first",
                hint="give its init() an arena in memory that your program has started, or choose "
                "a memory on the chip: --model-memory, --arena-memory",
            )


def attributes(board: BoardSpec, placement: Placement) -> dict[str, str]:
    """The C++ attributes of the model and of the arena."""
    places = places_of(board)
    return {
        "model": places.model[placement.model_memory],
        "arena": places.arena[placement.arena_memory],
    }
