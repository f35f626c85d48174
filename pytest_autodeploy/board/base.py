"""What every kind of board offers to the session that drives a model on it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pytest_autodeploy.base import trace
from pytest_autodeploy.board.use import Use as Use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_autodeploy.base.errors import BoardError
    from pytest_autodeploy.board.lock import BoardLocks
    from pytest_autodeploy.board.recorded.notes import Metered
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity


class Board(Protocol):
    """A board. Call ``load`` before ``client``; ``close`` may be called at any time and twice.

    ``id`` is what the user typed, such as ``sim:apollo4p_evb``; ``spec.name`` the catalog's name.
    """

    id: str
    spec: BoardSpec

    @property
    def port(self) -> str | None:
        """URL of the open port, None before the board is up."""

    @property
    def client(self) -> ValidatorClient:
        """The RPC client of the board; BoardUnavailable before ``load``."""

    def start(self) -> None:
        """Begin to power up, without waiting."""

    def load(self, image: Image) -> Identity:
        """Make the board run the image and prove it; a board that runs it already is left alone.

        Raises ModelDoesNotFit, WrongFirmware, or another BoardError.
        """

    def explain(self, error: BoardError) -> BoardError:
        """The error to show for one that a call raised: the cause, when the board knows better."""

    def discard(self) -> None:
        """Give up a board that broke; the next ``load`` gets a fresh one where that is possible."""

    def close(self) -> None:
        """Release the port, the lock and the process."""


@runtime_checkable
class Shared(Protocol):
    """A board that other runs may use, too."""

    def give_up(self) -> None:
        """Let others have it; the next ``load`` waits for it and trusts nothing from before."""


class SharedBoard(Board, Shared, Protocol):
    """One that is leased; not to be asked of by isinstance, which calls properties of a board."""

    @property
    def locks(self) -> BoardLocks:
        """The leases that this run has on it."""


@runtime_checkable
class Controllable(Protocol):
    """A board that obeys its host beside the RPC, and has its power meter in it."""

    id: str

    def control(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send an order, by its key ``op``, and return the answer."""


@runtime_checkable
class Programmable(Protocol):
    """A board that can be given any image, also one that has no RPC."""

    id: str
    spec: BoardSpec

    def program(self, file: Path) -> None:
        """Write an image and start it; it has to prove itself by other means. Raises BoardError."""


@runtime_checkable
class WithoutModel(Protocol):
    """A board that answers before it runs a model."""

    def connect(self) -> None:
        """Start it and open its port; it may run no model yet."""


@runtime_checkable
class Placed(Protocol):
    """A board whose image is known: where it has the model and the arena."""

    def placement(self, image: Image) -> Placement | None:
        """The memories of an image, None when they are not known. Raises ModelDoesNotFit."""


@runtime_checkable
class TimesOnDemand(Protocol):
    """A board whose times cost more than its results: it gives them when they are wanted."""

    def want_times(self, wanted: bool) -> None:
        """From now on times are exact, or as they come."""


@runtime_checkable
class Replayed(Protocol):
    """A board that is not there: what it says was recorded, and so was what is known of it."""

    def doubt(self, mode: int) -> str:
        """Why times of a clock mode were not what they seemed, empty when nothing was wrong."""

    def arena_guess(self) -> int | None:
        """Where the search for the smallest arena began, None when there was none."""

    def metered(self, mode: str, inferences: int | None, *, more: bool = False) -> Metered:
        """What a power meter saw of a clock mode; ``more``: beyond what was asked for before.

        Raises NotRecorded.
        """


def use_of(board: Board) -> Use:
    """What counts for a board, made when it is first asked for."""
    found = getattr(board, "use", None)
    if isinstance(found, Use):
        return found
    made = Use()
    with suppress(AttributeError):  # a board of another package may have __slots__
        board.use = made  # type: ignore[attr-defined]
    return made


def name_of(board: Board) -> str:
    """What tells the board from others: its name in the rig, its serial number, port, or id."""
    facts = (getattr(board, name, None) for name in ("rig_name", "serial"))
    port = board.port if getattr(board, "lasting_port", True) else None
    return next(filter(None, facts), None) or port or board.id


def use_taken(board: Board) -> BoardUse | None:
    """What a board went through since this was asked last; None when it was not used.

    That of a recording did nothing. The port of a process is another one at each start.
    """
    if isinstance(board, Replayed):
        return None
    return use_of(board).taken(
        board.id,
        name=getattr(board, "rig_name", None),
        serial=getattr(board, "serial", None),
        port=board.port if getattr(board, "lasting_port", True) else None,
    )


def load(board: Board, image: Image) -> Identity:
    """Have the board run an image, and give what it says of itself. Raises as ``Board.load``."""
    with trace.span("flash", model=image.model.name, board=board.id):
        return board.load(image)


@contextmanager
def timed(board: Board) -> Iterator[None]:
    """Within it the times of inferences are wanted."""
    if not isinstance(board, TimesOnDemand):
        yield
        return
    board.want_times(True)
    try:
        yield
    finally:
        board.want_times(False)
