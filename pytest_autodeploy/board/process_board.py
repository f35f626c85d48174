"""What boards share that are a process on this PC: their port, their death, their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_autodeploy.base.errors import BoardDied, BoardError, BoardUnavailable
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.board.use import Use

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.again import Again
    from pytest_autodeploy.board.process import ControlledProcess
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.rpc.client import ValidatorClient


class ProcessBoard:
    """A board behind a process; ``timeout_s`` bounds each RPC call."""

    lasting_port: ClassVar[bool] = False
    """Each start of the process has another."""

    def __init__(self, board_id: str, spec: BoardSpec, timeout_s: float) -> None:
        self.id = board_id
        self.spec = spec
        self.use = Use()
        self._timeout_s = timeout_s
        self._folder: Scratch | None = None
        self._process: ControlledProcess | None = None
        self._client: ValidatorClient | None = None
        self._port: str | None = None

    @property
    def port(self) -> str | None:
        return self._port

    @property
    def pid(self) -> int | None:
        """Process id of what runs the board, None when it is off."""
        return self._process.pid if self._process else None

    @property
    def client(self) -> ValidatorClient:
        if self._client is None:
            raise BoardUnavailable("not started", board=self.id, hint=NOT_YET)
        return self._client

    def _make_folder(self, name: str) -> Path:
        self._folder = Scratch(name)
        return self._folder.path

    def _open(self, port: str) -> None:
        """Connect to the port that the process has announced."""
        from pytest_autodeploy.rpc.client import ValidatorClient
        from pytest_autodeploy.rpc.link import Link

        self._port = port
        self._client = ValidatorClient(Link(port, board=self.id), timeout_s=self._timeout_s)

    def explain(self, error: BoardError) -> BoardError:
        process = self._process
        death = process.death(wait_s=0.5) if process else None
        if process is None or death is None:
            return error
        call = error.what.partition(":")[0]
        what = f"{call}: {death}"
        return BoardDied(what, board=self.id, seconds=error.seconds, hint=process.advice())

    def again(self) -> Again | None:
        return "fresh start"

    def try_again(self) -> None:
        self.close()

    def discard(self) -> None:
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        if self._process is not None:
            self._process.close()
        if self._folder is not None:
            self._folder.close()
        self._client = self._process = self._folder = self._port = None
