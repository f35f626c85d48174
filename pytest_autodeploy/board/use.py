"""What a board went through: how often it was flashed, broke, was taken up again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import TRANSIENT
from pytest_autodeploy.board.probe import FlashFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_autodeploy.base.errors import BoardError
    from pytest_autodeploy.rpc.client import ValidatorClient


BROKE = (*TRANSIENT, FlashFailed)
"""What a board raises that broke."""


@dataclass(frozen=True)
class BoardUse:
    """What a board went through in a test.

    ``board`` is what was asked for; ``name`` (in the rig file), ``serial`` (of the probe) and
    ``port`` tell equal boards apart, None is what is not known. ``flashes``: images that it was
    given; ``breaks``: how often it died, was silent, or could not be flashed; ``retries``: how
    often it was started anew to go on after that; ``retransmissions``: requests that were sent
    again; ``clock_ppm``: how much faster its ticks went than it says, by this PC's clock, in parts
    per million.
    """

    board: str
    name: str | None = None
    serial: str | None = None
    port: str | None = None
    flashes: int = 0
    breaks: int = 0
    retries: int = 0
    retransmissions: int = 0
    clock_ppm: float | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells boards apart: a port only where nothing better is known, as it may change."""
        port = "" if self.name or self.serial else self.port or ""
        return self.board, self.name or "", self.serial or "", port

    def __add__(self, later: BoardUse) -> BoardUse:
        """Both of the same board; of its clock the later one counts."""
        known = self.clock_ppm if later.clock_ppm is None else later.clock_ppm
        return replace(
            later,
            port=later.port or self.port,
            flashes=self.flashes + later.flashes,
            breaks=self.breaks + later.breaks,
            retries=self.retries + later.retries,
            retransmissions=self.retransmissions + later.retransmissions,
            clock_ppm=known,
        )


def added_up(uses: Iterable[BoardUse]) -> tuple[BoardUse, ...]:
    """One for each board, in the order of their names."""
    by_board: dict[tuple[str, str, str, str], BoardUse] = {}
    for use in uses:
        by_board[use.key] = by_board[use.key] + use if use.key in by_board else use
    return tuple(by_board[key] for key in sorted(by_board))


@dataclass
class Use:
    """Counts what a board goes through, until it is ``taken``."""

    flashes: int = 0
    breaks: int = 0
    retries: int = 0
    clock_ppm: float | None = None
    _asked: bool = False
    _told: BoardError | None = None
    _clients: dict[ValidatorClient, int] = field(default_factory=dict)

    def calls(self, client: ValidatorClient) -> None:
        """Requests that a client sends again count from now on; one that is closed does, too."""
        self._asked = True
        self._clients.setdefault(client, _sent_again(client))

    def broke(self, error: BoardError, raised: BoardError) -> None:
        """Count an error once, though calls within others raise it again, as ``raised``.

        What a board is not to blame for does not count: a port that is not there or in use, or
        another model.
        """
        if error is not self._told and isinstance(error, BROKE):
            self.breaks += 1
        self._told = raised

    def taken(
        self, board: str, *, name: str | None, serial: str | None, port: str | None
    ) -> BoardUse | None:
        """All that was counted since the last time; None for a board that was not used since."""
        if not (self._asked or self.flashes or self.breaks or self.retries):
            return None
        again = sum(_sent_again(client) - before for client, before in self._clients.items())
        use = BoardUse(
            board,
            name=name,
            serial=serial,
            port=port,
            flashes=self.flashes,
            breaks=self.breaks,
            retries=self.retries,
            retransmissions=again,
            clock_ppm=self.clock_ppm,
        )
        self.flashes = self.breaks = self.retries = 0
        self.clock_ppm = None
        self._asked = False
        self._clients = {client: _sent_again(client) for client in [*self._clients][-1:]}
        return use


def _sent_again(client: ValidatorClient) -> int:
    """A kind of another package may have a client of its own, which does not count."""
    return getattr(client, "sent_again", 0)
