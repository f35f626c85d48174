"""What can be done for a model whose board broke: try it once more, on a board that is fit."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.catalog.rig_state import RigState

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


@runtime_checkable
class OfRig(Protocol):
    """Whichever board of a rig it is that the run has now."""

    def in_use(self) -> str | None:
        """The name of the board that is leased now."""

    def leave_out(self, *states: RigState) -> None:
        """Lease none of the boards that these say are out, either."""

    def choose(self, avoid: Collection[str]) -> None:
        """Use none of the boards of these names: one of them that is leased is given up."""

    def uses_taken(self) -> list[BoardUse]:
        """What each of the boards went through since this was asked last."""


def again_text(how: Again, board: str | None) -> str:
    """How it was tried once more, as a report says it."""
    texts = {
        "second board": "on the second board",
        "power cycle": "after a power cycle",
        "fresh start": "after a fresh start of the board",
    }
    return f"{texts[how]}, {board}" if how == "second board" and board else texts[how]
