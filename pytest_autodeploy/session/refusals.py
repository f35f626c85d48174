"""What a board's refusal means: an arena that is too small, or a model that TFLM does not run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.base.units import si
from pytest_autodeploy.catalog.fit import ARENA_MEMORIES, place

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image

NO_MEMORY, INVOKE_FAILED = "NO_MEMORY", "INVOKE_FAILED"

_TOO_SMALL = re.compile(
    r"(?i)too many buffers|failed to (re)?(size|allocate)|arena size is too small|requested:"
    r"|missing:? \d|too small|crash"
)
"""TFLM's ways to say that its arena ends: its planner, its buffers, its crash in a tiny one."""


_CALL = re.compile(r"^[a-zA-Z_]+: ")


class ArenaTooSmall(BoardRefused):
    """The tensor arena is too small for the model; the hint says which option mends it."""


def means_too_small(status: str, text: str) -> bool:
    """Whether a refusal is for want of memory, whatever the board calls it."""
    return status == NO_MEMORY or (status != INVOKE_FAILED and bool(_TOO_SMALL.search(text)))


def explained(error: BoardRefused, image: Image, spec: BoardSpec) -> BoardRefused:
    """The refusal in words that every test has alike, with what to do.

    Status and words of the board are kept.
    """
    call = error.what.partition(":")[0]
    name, said = image.model.name, {"status": error.status, "text": error.text}
    board = error.board or spec.name
    if means_too_small(error.status, error.text):
        said["status"] = NO_MEMORY
        what = f"{call}: the tensor arena is too small for {name}"
        return ArenaTooSmall(what, board=board, hint=_more_room(image, spec), **said)
    if error.status == INVOKE_FAILED:
        hint = "no arena changes that: change this operator, or convert the model to full int8"
        # Which call it was, and how often it was tried, makes no difference.
        lines = dict.fromkeys(_CALL.sub("", line) for line in error.text.splitlines())
        said["text"] = "\n".join(lines)
        return BoardRefused(f"TFLM refuses to run {name}", board=board, hint=hint, **said)
    return error


def _more_room(image: Image, spec: BoardSpec) -> str:
    if image.arena_bytes:
        given = si(image.arena_bytes, "B")
        return f"give more than {given} with --evb-arena-kb, or leave it out for the largest arena"
    largest = place(spec, image.model.size_bytes)
    for memory in ARENA_MEMORIES:
        known = spec.memories.get(memory)
        if known and memory != largest.arena_memory and known.usable > largest.arena_bytes:
            size = known.usable // 1024
            return (
                f"{memory.upper()} has room: --evb-arena-memory {memory} --evb-arena-kb {size},"
                " or less"
            )
    return (
        f"{si(largest.arena_bytes, 'B')} in {largest.arena_memory.upper()} is the most that"
        f" {spec.name} has: 'autodeploy inspect' lists boards with more room"
    )
