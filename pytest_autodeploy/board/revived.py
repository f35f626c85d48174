"""A board of a rig that may break: then another of its type, or the same after a power cycle."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import TRANSIENT, BoardUnavailable
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.board.pooled import PooledBoard
from pytest_autodeploy.board.power_cycle import cut_power

if TYPE_CHECKING:
    from pytest_autodeploy.board.again import Again
    from pytest_autodeploy.board.base import SharedBoard
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.catalog.rig import RigBoard
    from pytest_autodeploy.catalog.rig_state import RigState
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity

RESTART_S = 30.0
"""For a board to answer after its power was cut."""

_POLL_S = 0.25


class RevivedBoard(PooledBoard):
    """A pool that knows which of its boards broke."""

    _comes_back: tuple[str, float] | None = None
    """The board whose power was cut last, and until when it may answer."""

    def in_use(self) -> str | None:
        """The name of the board that is leased now."""
        return self.rig_name if self._leased else None

    def leave_out(self, *states: RigState) -> None:
        """Lease none of the boards that these say are out, either."""
        self._pool.also(*states)

    def choose(self, avoid: Collection[str]) -> None:
        """Use none of the boards of these names: one of them that is leased is given up."""
        self.avoid = set(avoid)
        if self.in_use() in self.avoid:
            self.give_up()

    def uses_taken(self) -> list[BoardUse]:
        """What each of the boards went through since this was asked last."""
        taken = []
        for name, board in self._made.items():
            known = self._pool.rig.named(name)
            use = use_of(board).taken(self.id, name=name, serial=known.probe, port=known.port)
            taken += [use] if use else []
        return taken

    def again(self) -> Again | None:
        """Another board of the type, else the same after its power was cut, if it is not out."""
        broken, out = self.in_use(), self._pool.out()
        if self.rig_board is None or broken is None:
            return None
        not_these = {broken, *self.avoid, *out}
        if any(board.name not in not_these for board in self._pool.rig.of(self.id)):
            return "second board"
        return "power cycle" if self.rig_board.power_cycle and broken not in out else None

    def try_again(self) -> None:
        """Give the board up that broke, for another or to get it back from a power cycle.

        Raises BoardUnavailable when its power cannot be cut.
        """
        board, how = self.rig_board, self.again()
        if board is not None and how == "power cycle":
            cut_power(board, self.id)
            self._comes_back = board.name, time.monotonic() + RESTART_S
        elif board is not None:
            self.avoid.add(board.name)
        self.give_up()

    def _run(self, board: RigBoard, made: SharedBoard, image: Image) -> Identity:
        """One whose power was cut has some time to come back, unless a probe flashes it anyway."""
        name, until = self._comes_back or ("", 0.0)
        if name != board.name or not board.attached:
            return made.load(image)
        self._comes_back = None
        with show_task(f"waiting for {board.name} after its power was cut"):
            while True:
                try:
                    return made.load(image)
                except (*TRANSIENT, BoardUnavailable):
                    made.discard()
                    if time.monotonic() >= until:
                        raise
                time.sleep(_POLL_S)
