"""Where a model and its arena go in the memories of a board, and whether they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.boards import BoardSpec

MODEL_MEMORIES = ("mram", "sram", "psram", "dtcm", "nvm")
ARENA_MEMORIES = ("dtcm", "sram", "psram")
"""Each in order of preference: the first that has the room is taken."""

EXTERNAL = ("psram", "nvm")
"""Memories outside of the chip, which a program has to start."""

IMAGE_MEMORY = "mram"
"""The memory that is flashed: what is in an image has to fit it."""

LOADED_MEMORY = "psram"
"""The memory that the host loads with a model for which there is no room in the image."""

BUFFER_MEMORY = "sram"
"""Where firmware keeps what the host writes for the model."""

ALIGNMENT = 16
"""TFLM's: it cannot use the bytes of an arena beyond a multiple of it."""


@dataclass(frozen=True)
class Placement:
    """The memories that hold the model and the arena, and the bytes that the arena gets.

    ``model_loaded``: the image has no model; the host loads it over the link, after each start.
    """

    model_memory: str
    arena_memory: str
    arena_bytes: int
    model_loaded: bool = False

    @property
    def memories(self) -> tuple[str, str]:
        """Both, the model's first."""
        return self.model_memory, self.arena_memory


@dataclass(frozen=True)
class Use:
    """Bytes of a memory that something else uses."""

    what: str
    memory: str
    bytes: int


def place(
    spec: BoardSpec,
    model_bytes: int,
    arena_bytes: int = 0,
    *,
    likely_arena_bytes: int | None = None,
    buffer_bytes: int = 0,
    model_memories: Sequence[str] = MODEL_MEMORIES,
    arena_memories: Sequence[str] = ARENA_MEMORIES,
    copied_from: str | None = None,
) -> Placement:
    """Place a model and an arena; ``arena_bytes`` 0 is the largest arena of a memory on the chip.

    That memory is the first one with room for ``likely_arena_bytes``, or else the largest: tightly
    coupled memory before SRAM, as it is the faster one.
    ``buffer_bytes`` are kept free for copies of the model's inputs; the ``memories`` are those
    that may be taken. ``copied_from`` is the memory of the image, which has the model if it fits:
    the program puts it into another one when it starts. One that does not fit goes to PSRAM, and
    the host loads it.
    Raises ModelDoesNotFit with the sum for each memory that was considered.
    """
    uses = [Use("inputs", BUFFER_MEMORY, buffer_bytes)]
    model, loaded = _place_model(spec, model_bytes, model_memories, uses, copied_from)
    uses.append(Use("model", model, model_bytes))
    if arena_bytes == 0:
        wanted = _likely_memories(spec, likely_arena_bytes, arena_memories, uses)
        memory, arena_bytes = largest_arena(spec, uses, wanted)
        return Placement(model, memory, arena_bytes, loaded)
    arena = _first_fit(spec, "arena", arena_bytes, arena_memories, uses)
    return Placement(model, arena, arena_bytes, loaded)


def _place_model(
    spec: BoardSpec,
    size: int,
    memories: Sequence[str],
    uses: Sequence[Use],
    copied_from: str | None,
) -> tuple[str, bool]:
    """The memory of a model, and whether the host has to load it."""
    in_image = IMAGE_MEMORY in spec.memories and size <= _room(spec, IMAGE_MEMORY, uses)
    if in_image or not copied_from:
        memory = _first_fit(spec, "model", size, memories, uses)
        return memory, memory == LOADED_MEMORY and not in_image
    able = LOADED_MEMORY in spec.memories
    loadable = [LOADED_MEMORY] if able and LOADED_MEMORY in memories else []
    hint = _LOAD_IT if able and not loadable else None
    return _first_fit(spec, "model", size, [copied_from, *loadable], uses, hint=hint), True


def _likely_memories(
    spec: BoardSpec, likely: int | None, memories: Sequence[str], uses: Sequence[Use]
) -> Sequence[str]:
    """The first memory on the chip with room for an arena that is likely to be enough, or all."""
    on_chip = [name for name in memories if name != "psram" and name in spec.memories]
    fitting = [name for name in on_chip if likely and likely <= _room(spec, name, uses)]
    return fitting[:1] or memories


def largest_arena(
    spec: BoardSpec, uses: Sequence[Use] = (), memories: Sequence[str] = ARENA_MEMORIES
) -> tuple[str, int]:
    """The memory on the chip with the most room beside ``uses``, and that room in bytes.

    External PSRAM is slow: an arena goes there only when its size is asked for, or when no other
    memory is allowed. Raises ModelDoesNotFit when nothing is left.
    """
    on_chip = [name for name in memories if name != "psram"]
    present = _present(spec, "arena", on_chip or memories)
    rooms = {name: _room(spec, name, uses) for name in present}
    largest = max(rooms, key=lambda name: rooms[name])
    if rooms[largest] < ALIGNMENT:
        raise ModelDoesNotFit(
            f"the arena does not fit: {_sum(spec, 'arena', ALIGNMENT, largest, uses)}"
        )
    return largest, rooms[largest] // ALIGNMENT * ALIGNMENT


_LOAD_IT = f"leave --evb-model-memory out: the host loads it into {LOADED_MEMORY.upper()}"


def _first_fit(
    spec: BoardSpec,
    what: str,
    size: int,
    memories: Sequence[str],
    uses: Sequence[Use],
    hint: str | None = None,
) -> str:
    present = _present(spec, what, memories)
    for memory in present:
        if size <= _room(spec, memory, uses):
            return memory
    sums = "; ".join(_sum(spec, what, size, memory, uses) for memory in present)
    raise ModelDoesNotFit(f"the {what} does not fit: {sums}", hint=hint)


def _present(spec: BoardSpec, what: str, memories: Sequence[str]) -> list[str]:
    present = [memory for memory in memories if memory in spec.memories]
    if not present:
        raise ModelDoesNotFit(
            f"{spec.name} has no {' or '.join(memories).upper()} for the {what}; "
            f"its memories are {', '.join(spec.memories).upper()}"
        )
    return present


def _room(spec: BoardSpec, memory: str, uses: Sequence[Use]) -> int:
    return spec.memories[memory].usable - sum(use.bytes for use in uses if use.memory == memory)


def _sum(spec: BoardSpec, what: str, size: int, memory: str, uses: Sequence[Use]) -> str:
    whole = spec.memories[memory]
    reserved = Use("reserved", memory, whole.reserved)
    others = [use for use in (reserved, *uses) if use.memory == memory and use.bytes]
    parts = [f"{use.what} {_kb(use.bytes)}" for use in others]
    return f"{' + '.join([f'{what} {_kb(size)}', *parts])} > {memory.upper()} {_kb(whole.bytes)}"


def _kb(size: int) -> str:
    return f"{size / 1024:,.1f} KB"
