"""The simulated board: a process on this PC that runs the TFLM kernels behind the boards' RPC."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import (
    BoardUnavailable,
    MissingExtra,
    ModelDoesNotFit,
)
from pytest_autodeploy.board.identity import prove
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.board.silence import NOT_YET

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity

START_TIMEOUT_S = 30.0
FLASH_TIMEOUT_S = 30.0


class SimulatedBoard(ProcessBoard):
    """A board named after one of the catalog, with that board's memories and clocks.

    ``timeout_s`` bounds each RPC call; ``arguments`` go to ``python -m pytest_autodeploy.sim``.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, *, timeout_s: float, arguments: Sequence[str] = ()
    ) -> None:
        super().__init__(board_id, spec, timeout_s)
        self._arguments = list(arguments)
        self._flashed: tuple[str, int] | None = None

    def start(self) -> None:
        if self._process is not None:
            return
        if importlib.util.find_spec("tflite_micro") is None:
            raise MissingExtra("the simulated board", "sim")
        log = self._make_folder("sim") / "log.txt"
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
        return prove(self.client, identity, image, self.id)

    def connect(self) -> None:
        """Start the simulation and open its port; it may run no model yet."""
        self.start()
        if self._client is not None:
            return
        ready = self._running().reply("start", START_TIMEOUT_S)
        if not ready.get("ready"):
            raise BoardUnavailable(
                f"cannot start: {ready.get('error')}",
                board=self.id,
                hint="run it by hand to see why: autodeploy sim NAME",
            )
        self._open(str(ready["port"]))

    def _running(self) -> ControlledProcess:
        if self._process is None:
            raise BoardUnavailable("not started", board=self.id, hint=NOT_YET)
        return self._process

    def control(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send an order to the control channel of the simulation and return the answer."""
        self.connect()
        return self._running().request(str(message["op"]), message, timeout_s)

    def _flash(self, image: Image) -> None:
        self._flashed = None
        process = self._running()
        assert self._folder is not None
        model = self._folder.path / "image.tflite"
        model.write_bytes(image.model.content)
        message: dict[str, Any] = {
            "op": "flash",
            "model": str(model),
            "arena_bytes": image.arena_bytes,
        }
        reply = process.request("flash", message, FLASH_TIMEOUT_S)
        if not reply.get("ok"):
            raise ModelDoesNotFit(
                f"flash refused: {reply.get('error')}",
                board=self.id,
                hint="use a smaller model, or a board with more memory (autodeploy boards)",
            )
        self._flashed = (image.model.sha256, image.arena_bytes)
        self.use.flashes += 1

    def close(self) -> None:
        super().close()
        self._flashed = None
