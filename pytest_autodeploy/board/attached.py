"""A board that already runs its model, reached through a port that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardUnavailable, WrongFirmware
from pytest_autodeploy.board.identity import check_identity
from pytest_autodeploy.board.lock import LOCK_TIMEOUT_S, BoardLocks
from pytest_autodeploy.board.silence import NOT_YET, with_advice
from pytest_autodeploy.board.usb_ports import port_identity
from pytest_autodeploy.catalog.kinds import HARDWARE, SIMULATED, kind_of
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity


class AttachedBoard:
    """A board behind ``url``; nothing is flashed, its identity decides whether it can be used.

    What its kind does not answer as is refused, and with ``hardware_only`` an emulated one too.
    """

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        url: str,
        *,
        hardware_only: bool = False,
        timeout_s: float,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._url = url
        self._hardware_only = hardware_only
        self._timeout_s = timeout_s
        self._client: ValidatorClient | None = None
        self._locks = BoardLocks(board_id, lock_timeout_s)

    @property
    def port(self) -> str | None:
        return self._url

    @property
    def client(self) -> ValidatorClient:
        if self._client is None:
            raise BoardUnavailable("not attached", board=self.id, hint=NOT_YET)
        return self._client

    def start(self) -> None:
        """Nothing to power up: the board runs."""

    def load(self, image: Image) -> Identity:
        self._attach()
        try:
            identity = self.client.identify()
        except BoardError as error:
            raise with_advice(error, self._url) from None
        self._check_kind(identity.kind.name.lower())
        check_identity(identity, image, self.id, name=self.spec.name)
        return identity

    def _check_kind(self, answered: str) -> None:
        wrong = answered not in kind_of(self.id).answers_as
        if wrong or (self._hardware_only and answered != HARDWARE.name):
            raise WrongFirmware(
                f"{self._url} answers as a board of the kind {answered!r}",
                board=self.id,
                hint=f"--evb {SIMULATED.shown} is for simulated boards, --evb NAME for others; "
                "--evb-require-hardware accepts hardware only.",
            )

    def _attach(self) -> None:
        if self._client is not None:
            return
        self._locks.hold(port_identity(self._url))
        try:
            link = Link(self._url, board=self.id)
        except BoardError:
            self._locks.release()
            raise
        self._client = ValidatorClient(link, timeout_s=self._timeout_s)

    def explain(self, error: BoardError) -> BoardError:
        """What to look at, when the board did not answer."""
        return with_advice(error, self._url)

    def discard(self) -> None:
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        self._locks.release()
