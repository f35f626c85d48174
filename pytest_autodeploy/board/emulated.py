"""The emulated board: the Arm firmware of a model on a Cortex-M machine of QEMU."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.board.identity import check_identity
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.build.tool import find_program
from pytest_autodeploy.errors import BoardDied, BoardError, BoardUnavailable
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Image
    from pytest_autodeploy.board.catalog import BoardSpec
    from pytest_autodeploy.build.cache import Built
    from pytest_autodeploy.build.firmware import Builder
    from pytest_autodeploy.rpc.messages import Identity

QEMU = "qemu-system-arm"
INSTALL = "Debian and Ubuntu: apt install qemu-system-arm; macOS: brew install qemu."
START_TIMEOUT_S = 30.0

_INSTRUCTION_NS = "shift=5"
"""Virtual time goes on by 2^5 ns with each instruction: timers count instructions, exactly."""

_RAM_BYTES = {"mps2-an386": 16 << 20, "mps3-an547": 2 << 30}
"""Size of the memory that QEMU shares, which it insists on."""


class EmulatedBoard:
    """A machine of QEMU; ``builder`` makes the firmware, ``timeout_s`` bounds each RPC call.

    QEMU is started for an image and restarted only for another one. Its figures are counts of
    instructions: exact and repeatable, without caches, wait states or power.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, builder: Builder, *, timeout_s: float
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._builder = builder
        self._timeout_s = timeout_s
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: ControlledProcess | None = None
        self._client: ValidatorClient | None = None
        self._port: str | None = None
        self._running: str | None = None

    @property
    def port(self) -> str | None:
        return self._port

    @property
    def pid(self) -> int | None:
        """Process id of the guard of QEMU, None when it is off."""
        return self._process.pid if self._process else None

    @property
    def client(self) -> ValidatorClient:
        if self._client is None:
            raise BoardUnavailable("not started", board=self.id)
        return self._client

    def start(self) -> None:
        """Nothing to power up before there is an image."""

    def load(self, image: Image) -> Identity:
        built = self._builder.build(image)
        if self._running != built.build_id:
            self.close()
            self._boot(built)
        identity = self.client.identify()
        check_identity(identity, image, self.id, name=self.spec.name, build_id=built.build_id)
        return identity

    def _boot(self, built: Built) -> None:
        if os.name != "posix":
            raise BoardUnavailable("emulated boards need Linux or macOS", board=self.id)
        qemu = find_program(QEMU, needed=f"the emulated board {self.id}", install=INSTALL)
        self._folder = tempfile.TemporaryDirectory(prefix="autodeploy-qemu-")
        self._process = ControlledProcess(
            self.id,
            "pytest_autodeploy.board.qemu",
            [str(_RAM_BYTES[self.spec.name]), str(qemu), *self._arguments(built)],
            Path(self._folder.name) / "log.txt",
        )
        self._port = str(self._process.reply("start", START_TIMEOUT_S)["port"])
        self._client = ValidatorClient(Link(self._port, board=self.id), timeout_s=self._timeout_s)
        self._running = built.build_id

    def _arguments(self, built: Built) -> list[str]:
        return [
            *("-machine", self.spec.name),
            *("-kernel", str(built.file(".elf"))),
            *("-icount", _INSTRUCTION_NS),
            *("-display", "none"),
            *("-monitor", "none"),
        ]

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
            self._folder.cleanup()
        self._client = self._process = self._folder = self._port = self._running = None
