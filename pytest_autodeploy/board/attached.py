"""A board that already runs its model, reached through a port that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardUnavailable, WrongFirmware
from pytest_autodeploy.board.dialect import Dialect, connect, expect, refuse_unproven, with_reset
from pytest_autodeploy.board.identity import prove
from pytest_autodeploy.board.lock import LOCK_TIMEOUT_S, BoardLocks
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.board.usb_ports import port_identity
from pytest_autodeploy.catalog.kinds import HARDWARE, SIMULATED, kind_of
from pytest_autodeploy.rpc.stock_client import StockClient

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity


class AttachedBoard:
    """A board behind ``url``; nothing is flashed, its identity decides whether it can be used.

    What its kind does not answer as is refused, with ``hardware_only`` an emulated one too, and
    with ``require_proof`` one whose ``dialect`` has no identity.
    """

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        url: str,
        *,
        dialect: Dialect = "own",
        hardware_only: bool = False,
        require_proof: bool = False,
        timeout_s: float,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._url = url
        self._dialect = self._asked_dialect = dialect
        self._hardware_only = hardware_only
        self._require_proof = require_proof
        self._timeout_s = timeout_s
        self._client: ValidatorClient | None = None
        self.locks = BoardLocks(board_id, lock_timeout_s)

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
        if isinstance(self.client, StockClient):
            return self._load_stock(self.client, image)
        try:
            identity = self.client.identify()
            self._dialect = "own"  # need not be asked again
            self._check_kind(identity.kind.name.lower())
            return prove(self.client, identity, image, self.id, name=self.spec.name)
        except BoardError as error:
            raise self.explain(error) from None

    def _load_stock(self, client: StockClient, image: Image) -> Identity:
        if self._require_proof:
            raise refuse_unproven(self.id, self._url)
        try:
            identity = client.prove(expect(image.model))
        except BoardError as error:
            raise self.explain(error) from None
        self._dialect = "stock"
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
        self.locks.hold(port_identity(self._url))
        try:
            self._client = connect(self._url, self.id, self.spec, self._dialect, self._timeout_s)
        except BoardError:
            self.locks.release()
            raise

    def explain(self, error: BoardError) -> BoardError:
        """What to look at, when the board did not answer."""
        return with_reset(error, self._url, self._dialect)

    def discard(self) -> None:
        """Give up the port of a board that broke; the lease stays with this run."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def give_up(self) -> None:
        """Let others have the board, who may flash it with firmware of another dialect."""
        self._dialect = self._asked_dialect
        self.close()

    def close(self) -> None:
        self.discard()
        self.locks.release()
