"""A board that labgrid lends: it is attached to, and its power is cut when it hangs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.errors import (
    BoardDied,
    BoardError,
    BoardTimeout,
    BoardUnavailable,
    LinkError,
)
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.base import Board, Placed, Use
from pytest_autodeploy.board.labgrid.client import NotOurs
from pytest_autodeploy.board.labgrid.way import Way
from pytest_autodeploy.board.silence import NOT_YET

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.lease import Held, Lease
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity

LOG = logging.getLogger(__name__)

RESTART_S = 20.0
"""For a board to start and for its port to be back, once it has power again."""

_HANGS = (BoardTimeout, BoardDied, LinkError, BoardUnavailable)
"""What a board raises that hangs or is off; of the last only a port that cannot be opened."""

CHECK_S = 60.0
"""After so long it is looked at anew whether the place is still this run's; that takes a second."""

_POLL_S = 0.25


class LeasedBoard:
    """The board at the place of ``lease``; ``reach`` makes it of the place and its port's URL."""

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        lease: Lease,
        reach: Callable[[Held, str], Board],
        *,
        restart_s: float = RESTART_S,
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._lease = lease
        self._reach = reach
        self._restart_s = restart_s
        self._board: Board | None = None
        self.use = Use()
        """What the board went through, whatever way it was reached."""
        self._way: Way | None = None
        self._checked = 0.0
        self._restarts = False

    @property
    def serial(self) -> str | None:
        """The name of the place, which tells boards of a lab apart; None before it is known."""
        return self._lease.held.place.name if self._lease.held else None

    @property
    def port(self) -> str | None:
        return self._board.port if self._board else None

    @property
    def client(self) -> ValidatorClient:
        if self._board is None:
            raise BoardUnavailable("no place is acquired yet", board=self.id, hint=NOT_YET)
        return self._board.client

    def start(self) -> None:
        """Nothing to power up: the board runs."""

    def placement(self, image: Image) -> Placement | None:
        """Where an image has its model and its arena, None when that is not known."""
        return self._board.placement(image) if isinstance(self._board, Placed) else None

    def load(self, image: Image) -> Identity:
        """Acquire the place at the first use, and let its board prove that it runs the image.

        The power of one that hangs is cut once, where the place has a power port.
        """
        board = self._ready()
        if self._restarts:
            return self._load_restarted(image)
        try:
            return board.load(image)
        except _HANGS as error:
            if isinstance(error, BoardUnavailable) and not isinstance(error.__cause__, OSError):
                raise  # another run uses it, or its probe is away
            try:
                self.try_again()
            except NotOurs as refusal:  # it has no power port
                LOG.info("%s", refusal)
                raise error from None
            self.use.breaks += 1
            self.use.retries += 1
            return self._load_restarted(image)

    def again(self) -> Literal["power cycle"] | None:
        """Whether its power can be cut for a model that broke it."""
        return "power cycle" if self._lease.has_power else None

    def try_again(self) -> None:
        """Cut its power, and give it back. Raises LabError."""
        with show_task(f"cutting the power of {self.id}"):
            self._lease.power_cycle()
        self._restarts = True

    def _ready(self) -> Board:
        held = self._lease.hold()
        if self._board is None:
            self._way = self._way or Way(held, self.id)
            self._board = self._reach(held, self._way.url)
            self._board.use = self.use  # type: ignore[attr-defined]  # it counts there
        elif time.monotonic() - self._checked > CHECK_S:
            self._lease.check()
        else:
            return self._board
        self._checked = time.monotonic()
        LOG.debug("%s is %s", self.id, held.place.name)
        return self._board

    def _load_restarted(self, image: Image) -> Identity:
        """Once it has power again a board takes some time to answer."""
        self._restarts = False
        until = time.monotonic() + self._restart_s
        with show_task(f"waiting for {self.id} after its power was cut"):
            while True:
                self._forget_board()  # one that failed may remember it
                try:
                    return self._ready().load(image)
                except _HANGS as again:
                    if time.monotonic() >= until:
                        what = f"{again.what}, after its power was cut"
                        raise type(again)(
                            what, board=self.id, seconds=again.seconds, hint=again.hint
                        ) from None
                time.sleep(_POLL_S)

    def _forget_board(self) -> None:
        board, self._board = self._board, None
        if board is not None:
            board.close()

    def explain(self, error: BoardError) -> BoardError:
        """What to look at, when the board did not answer."""
        return self._board.explain(error) if self._board else error

    def discard(self) -> None:
        """Give up the port of a board that broke; the place stays with this run."""
        if self._board is not None:
            self._board.discard()

    def close(self) -> None:
        """Close the port, and give the place back."""
        try:
            self._forget_board()
            if self._way is not None:
                self._way.close()
        finally:
            self._way = None
            self._lease.release()
