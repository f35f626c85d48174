"""A board belongs to one run at a time: leases of what it is, such as its probe or its port."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.lease import Lease, LeaseHeld, take_lease
from pytest_autodeploy.base.lease_holder import LeaseUnusable

LOCK_TIMEOUT_S = 5.0


# Leases, and not xdist's groups of tests: with pytest 9.2, xdist 3.8 spreads a group over all
# workers without a word (pytest-xdist issue 1386).
class BoardLocks:
    """The leases that this run has on ``board``, each waited for up to ``timeout_s`` seconds."""

    def __init__(self, board: str, timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self._board = board
        self._timeout_s = timeout_s
        self._held: dict[str, Lease] = {}

    def hold(self, identity: str) -> None:
        """Lease what ``identity`` names, such as ``probe 1160002276``; nothing if it is held.

        Raises BoardUnavailable that names the process that has it, when that can be known.
        """
        if identity in self._held:
            return
        try:
            self._held[identity] = take_lease(identity, self._timeout_s)
        except LeaseHeld as error:
            raise in_use(identity, self._board, error) from None
        except LeaseUnusable as error:
            raise BoardUnavailable(error.what, board=self._board, hint=error.hint) from error

    def adopt(self, leases: Iterable[Lease]) -> None:
        """Take over what was leased for this board already."""
        self._held |= {lease.identity: lease for lease in leases}

    def release(self) -> None:
        """Give up all leases; may be called twice."""
        while self._held:
            self._held.popitem()[1].release()


def in_use(what: str, board: str, error: LeaseHeld) -> BoardUnavailable:
    """What a user is told of a board that others did not give up in time."""
    own = error.holder.is_this_process
    by = ", in this same process" if own else f": {error.holder.text}"
    return BoardUnavailable(
        f"{what} is used by another run{by}",
        board=board,
        seconds=error.seconds,
        hint="wait for it to end, or use another board"
        + ("" if own else "; --evb-wait says how long a run waits"),
    )
