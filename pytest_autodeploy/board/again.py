"""What can be done for a model whose board broke: try it once more, on a board that is fit."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

Again = Literal["second board", "power cycle", "fresh start"]
"""How a model is tried once more: on another board of the type, on the same one after its power was
cut, or in a new process of a board that is one."""


@runtime_checkable
class Revivable(Protocol):
    """A board that a model may be tried on once more after it broke."""

    def again(self) -> Again | None:
        """What there is to do, None for nothing."""

    def try_again(self) -> None:
        """Do it: the next ``load`` gets a board that is fit. Raises BoardUnavailable."""


def again_text(how: Again, board: str | None) -> str:
    """How it was tried once more, as a report says it."""
    texts = {
        "second board": "on the second board",
        "power cycle": "after a power cycle",
        "fresh start": "after a fresh start of the board",
    }
    return f"{texts[how]}, {board}" if how == "second board" and board else texts[how]
