"""Where a model and its arena go in the memories of a board, and whether they fit."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.board.catalog import BoardSpec
from pytest_autodeploy.errors import ModelDoesNotFit

MODEL_MEMORIES = ("mram", "sram", "psram")
ARENA_MEMORIES = ("dtcm", "sram", "psram")
"""Each in order of preference: the first that has the room is taken."""

ALIGNMENT = 16
"""TFLM's: it cannot use the bytes of an arena beyond a multiple of it."""


@dataclass(frozen=True)
class Placement:
    """The memories that hold the model and the arena, and the bytes that the arena gets."""

    model_memory: str
    arena_memory: str
    arena_bytes: int


def place(spec: BoardSpec, model_bytes: int, arena_bytes: int = 0) -> Placement:
    """Place a model and an arena; ``arena_bytes`` 0 is the largest arena on the chip.

    Raises ModelDoesNotFit with the sum for each memory that was considered.
    """
    model_memory = _first_fit(spec, "model", model_bytes, MODEL_MEMORIES, {})
    taken = {model_memory: model_bytes}
    if arena_bytes == 0:
        memory, arena_bytes = largest_arena(spec, taken)
        return Placement(model_memory, memory, arena_bytes)
    arena_memory = _first_fit(spec, "arena", arena_bytes, ARENA_MEMORIES, taken)
    return Placement(model_memory, arena_memory, arena_bytes)


def largest_arena(spec: BoardSpec, taken: dict[str, int] | None = None) -> tuple[str, int]:
    """The memory on the chip with the most room, and that room in bytes.

    ``taken`` are bytes by memory that something else uses. External PSRAM is slow: an arena goes
    there only when its size is asked for.
    """
    rooms = {
        memory: _room(spec, memory, taken or {})
        for memory in ARENA_MEMORIES
        if memory in spec.memories and memory != "psram"
    }
    largest = max(rooms, key=lambda memory: rooms[memory])
    return largest, rooms[largest] // ALIGNMENT * ALIGNMENT


def _first_fit(
    spec: BoardSpec, what: str, size: int, memories: tuple[str, ...], taken: dict[str, int]
) -> str:
    present = [memory for memory in memories if memory in spec.memories]
    for memory in present:
        if size <= _room(spec, memory, taken):
            return memory
    sums = "; ".join(_sum(spec, what, size, memory, taken) for memory in present)
    raise ModelDoesNotFit(f"the {what} does not fit: {sums}")


def _room(spec: BoardSpec, memory: str, taken: dict[str, int]) -> int:
    return spec.memories[memory].usable - taken.get(memory, 0)


def _sum(spec: BoardSpec, what: str, size: int, memory: str, taken: dict[str, int]) -> str:
    whole = spec.memories[memory]
    parts = [f"{what} {_kb(size)}"]
    if whole.reserved:
        parts.append(f"reserved {_kb(whole.reserved)}")
    if memory in taken:
        parts.append(f"model {_kb(taken[memory])}")
    return f"{' + '.join(parts)} > {memory.upper()} {_kb(whole.bytes)}"


def _kb(size: int) -> str:
    return f"{size / 1024:,.1f} KB"
