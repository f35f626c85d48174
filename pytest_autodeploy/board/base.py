"""What every kind of board offers to the session that drives a model on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_autodeploy.base.errors import BoardError
    from pytest_autodeploy.base.measurement import Source
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import BoardKind, Identity


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


def source_of(kind: BoardKind) -> Source:
    """The source of the figures that a board of this kind gives."""
    sources: dict[str, Source] = {
        "simulated": "modelled",
        "emulated": "emulated",
        "hardware": "measured",
    }
    return sources[kind.name.lower()]
