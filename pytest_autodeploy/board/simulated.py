"""The simulated board: a process on this PC that runs the TFLM kernels behind the boards' RPC."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.identity import check_identity
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.errors import (
    BoardDied,
    BoardError,
    BoardUnavailable,
    MissingExtra,
    ModelDoesNotFit,
)

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Image
    from pytest_autodeploy.board.catalog import BoardSpec
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity

START_TIMEOUT_S = 30.0
FLASH_TIMEOUT_S = 30.0


class SimulatedBoard:
    """A board named after one of the catalog, with that board's memories and clocks.

    ``timeout_s`` bounds each RPC call; ``arguments`` go to ``python -m pytest_autodeploy.sim``.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, *, timeout_s: float, arguments: Sequence[str] = ()
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._timeout_s = timeout_s
        self._arguments = list(arguments)
        self._folder: Path | None = None
        self._process: ControlledProcess | None = None
        self._client: ValidatorClient | None = None
        self._port: str | None = None
        self._flashed: tuple[str, int] | None = None

    @property
    def port(self) -> str | None:
        return self._port

    @property
    def pid(self) -> int | None:
        """Process id of the simulation, None when it is off."""
        return self._process.pid if self._process else None

    @property
    def client(self) -> ValidatorClient:
        if self._client is None:
            raise BoardUnavailable("not started", board=self.id)
        return self._client

    def start(self) -> None:
        if self._process is not None:
            return
        if importlib.util.find_spec("tflite_micro") is None:
            raise MissingExtra("the simulated board", "sim")
        self._folder = Path(tempfile.mkdtemp(prefix="autodeploy-sim-"))
        log = self._folder / "log.txt"
        self._process = ControlledProcess(
            self.id,
            "pytest_autodeploy.sim",
            ["--board", self.spec.name, "--log", str(log), *self._arguments],
            log,
        )

    def load(self, image: Image) -> Identity:
        self.connect()
        if self._flashed != (image.model.sha256, image.arena_bytes):
            self._flash(image)
        identity = self.client.identify()
        check_identity(identity, image, self.id)
        return identity

    def connect(self) -> None:
        """Start the simulation and open its port; it may run no model yet."""
        self.start()
        if self._client is not None:
            return
        from pytest_autodeploy.rpc.client import ValidatorClient
        from pytest_autodeploy.rpc.link import Link

        ready = self._running().reply("start", START_TIMEOUT_S)
        if not ready.get("ready"):
            raise BoardUnavailable(f"cannot start: {ready.get('error')}", board=self.id)
        self._port = str(ready["port"])
        link = Link(self._port, board=self.id)
        self._client = ValidatorClient(link, timeout_s=self._timeout_s)

    def _running(self) -> ControlledProcess:
        if self._process is None or self._folder is None:
            raise BoardUnavailable("not started", board=self.id)
        return self._process

    def control(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send an order to the control channel of the simulation and return the answer."""
        self.connect()
        return self._running().request(str(message["op"]), message, timeout_s)

    def _flash(self, image: Image) -> None:
        self._flashed = None
        process = self._running()
        assert self._folder is not None
        model = self._folder / "image.tflite"
        model.write_bytes(image.model.content)
        message: dict[str, Any] = {
            "op": "flash",
            "model": str(model),
            "arena_bytes": image.arena_bytes,
        }
        reply = process.request("flash", message, FLASH_TIMEOUT_S)
        if not reply.get("ok"):
            raise ModelDoesNotFit(f"flash refused: {reply.get('error')}", board=self.id)
        self._flashed = (image.model.sha256, image.arena_bytes)

    def explain(self, error: BoardError) -> BoardError:
        death = self._process.death(wait_s=0.5) if self._process else None
        if death is None:
            return error
        call = error.what.partition(":")[0]
        return BoardDied(f"{call}: {death}", board=self.id)

    def discard(self) -> None:
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        if self._process is not None:
            self._process.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._client = self._process = self._folder = self._port = self._flashed = None
