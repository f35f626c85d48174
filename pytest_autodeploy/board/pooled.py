"""A board of a rig: whichever of its type is free, leased for as long as its model is tested."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardUnavailable, OtherModel
from pytest_autodeploy.board.base import Placed, Programmable, use_of
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.board.use import Use

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.base import SharedBoard
    from pytest_autodeploy.board.pool import Pool
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.catalog.rig import RigBoard
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity

LOG = logging.getLogger(__name__)

Make = Callable[["RigBoard"], "SharedBoard"]


class PooledBoard:
    """Stands for all boards of the ``pool`` that ``board_id`` may mean; ``make`` makes one.

    ``load`` leases one, and waits up to ``wait_s`` seconds for it, until ``give_up``.
    ``avoid`` are the names of those that are not to be used any more.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, pool: Pool, make: Make, *, wait_s: float
    ) -> None:
        self.id = board_id
        self.spec = spec
        self.avoid: set[str] = set()
        self.rig_board: RigBoard | None = None
        """The board that is leased, or was last."""
        self.on_lease: Callable[[RigBoard], None] = lambda _board: None
        """Called with each board that is leased, before it is used."""
        self.on_give_up: Callable[[RigBoard], None] = lambda _board: None
        """Called with each board that is given up, after it."""
        self._pool = pool
        self._make = make
        self._wait_s = wait_s
        self._made: dict[str, SharedBoard] = {}
        self._last: dict[str, str] = {}
        self._leased = False
        self._unused = Use()

    @property
    def rig_name(self) -> str | None:
        """The name, in the rig file, of the board that is leased, or was last."""
        return self.rig_board.name if self.rig_board else None

    @property
    def serial(self) -> str | None:
        """The serial number of its probe, if it has one."""
        return self.rig_board.probe if self.rig_board else None

    @property
    def use(self) -> Use:
        """What that board went through."""
        return use_of(self._made[self.rig_board.name]) if self.rig_board else self._unused

    @property
    def port(self) -> str | None:
        return self._inner.port if self._inner else None

    @property
    def client(self) -> ValidatorClient:
        if self._inner is None:
            raise BoardUnavailable("no board is leased", board=self.id, hint=NOT_YET)
        return self._inner.client

    @property
    def _inner(self) -> SharedBoard | None:
        return self._made[self.rig_board.name] if self.rig_board and self._leased else None

    def start(self) -> None:
        """Nothing to power up: the boards run."""

    def load(self, image: Image) -> Identity:
        """Lease a board and let it run the image, and prove it.

        Of boards that run a model already, the one that runs this model is looked for. Raises
        BoardUnavailable when all are in use, and what the board raises.
        """
        passed: dict[str, OtherModel] = {}
        while True:
            board = self._lease(image.model.sha256, passed)
            try:
                identity = self._run(board, self._made[board.name], image)
            except OtherModel as error:
                if not board.attached:
                    raise
                LOG.debug("%s: passed over: %s", board.name, error.what)
                passed[board.name] = error
                self.give_up()
            else:
                self._last[image.model.sha256] = board.name
                return identity

    def _run(self, board: RigBoard, made: SharedBoard, image: Image) -> Identity:
        """Let a board that is leased run the image."""
        del board
        return made.load(image)

    def _lease(self, model: str, passed: Mapping[str, OtherModel]) -> RigBoard:
        """The board that is leased, now if none is: best the one that has run the model before."""
        if self.rig_board is not None and self._leased:
            return self.rig_board
        try:
            candidates = self._pool.candidates(self.id, {*self.avoid, *passed})
        except BoardUnavailable:
            if passed:
                raise _none_runs(self.id, passed) from None
            raise
        candidates.sort(key=lambda each: each.name != self._last.get(model))
        board, leases = self._pool.take(self.id, candidates, self._wait_s)
        if board.name not in self._made:
            self._made[board.name] = self._make(board)
        self._made[board.name].locks.adopt(leases)
        self.rig_board, self._leased = board, True
        LOG.debug("%s is %s", self.id, board.name)
        try:
            self.on_lease(board)
        except BaseException:
            self.give_up()
            raise
        return board

    def placement(self, image: Image) -> Placement | None:
        """Where an image has its model and its arena: the same on all boards of a type."""
        inner = self._inner
        return inner.placement(image) if isinstance(inner, Placed) else None

    def program(self, file: Path) -> None:
        """Flash a file, whose firmware has no RPC, to a board that is leased. Raises BoardError."""
        inner = self._made[self._lease(file.name, {}).name]
        if not isinstance(inner, Programmable):
            raise BoardUnavailable(
                "it has no probe", board=self.id, hint="name one in the rig file"
            )
        inner.program(file)

    def explain(self, error: BoardError) -> BoardError:
        """The board's own words, and which one it was."""
        return self._inner.explain(error) if self._inner else error

    def discard(self) -> None:
        """Give up a board that broke; it stays leased."""
        if self._inner is not None:
            self._inner.discard()

    def give_up(self) -> None:
        """Let others have the board; the next ``load`` leases one again."""
        inner, self._leased = self._inner, False
        if inner is not None and self.rig_board is not None:
            inner.give_up()
            self.on_give_up(self.rig_board)

    def close(self) -> None:
        self.give_up()


def _none_runs(board: str, passed: Mapping[str, OtherModel]) -> BoardError:
    """What is told when every board runs another model; the board's own words of a single one."""
    if len(passed) == 1:
        return next(iter(passed.values()))
    each = "\n  ".join(f"{name}: {error.what}" for name, error in passed.items())
    hint = f"{each}\n  Flash one of them with the model, or give it a probe in the rig file."
    return OtherModel("no board of the rig runs the model", board=board, hint=hint)
