"""The virtual board: the very image that is flashed to an EVB, on an emulated core."""

from __future__ import annotations

import hashlib
import importlib.util
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BoardError, BoardUnavailable, MissingExtra
from pytest_autodeploy.board.identity import prove
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.catalog.boards import PINS

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.executable import Executable, ImageSource
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity

START_TIMEOUT_S = 30.0
ORDER_TIMEOUT_S = 30.0
"""An order is obeyed between two slices of instructions."""

NEEDED = ("unicorn", "elftools")


class VirtualBoard(ProcessBoard):
    """A board whose image runs in a process of its own; ``timeout_s`` bounds each RPC call.

    GDB may connect to ``gdb_port``.
    Its figures are counts of instructions, without caches, wait states or power. They are exact
    when ``want_times`` says so; else they leave out what an IT block skips.
    """

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        source: ImageSource,
        *,
        timeout_s: float,
        gdb_port: int | None = None,
    ) -> None:
        super().__init__(board_id, spec, timeout_s)
        self._gdb_port = gdb_port
        self._source = source
        self._running: Executable | None = None
        self._exact = False
        self.image_sha256: str | None = None

    @classmethod
    def of(
        cls,
        board_id: str,
        spec: BoardSpec,
        options: BuildOptions,
        *,
        timeout_s: float,
        file: Path | None = None,
        licence_ok: bool = False,
        gdb_port: int | None = None,
    ) -> VirtualBoard:
        """The board with the image that is built for it, or with ``file``; see `image_source`."""
        from pytest_autodeploy.board.executable import image_source

        source = image_source(board_id, spec, options, file=file, licence_ok=licence_ok)
        return cls(board_id, spec, source, timeout_s=timeout_s, gdb_port=gdb_port)

    def start(self) -> None:
        """Nothing to power up before there is an image."""

    def placement(self, image: Image) -> Placement | None:
        """Where the image that runs has its model and its arena, None when that is not known."""
        del image
        return self._running.placement if self._running else None

    def load(self, image: Image) -> Identity:
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise MissingExtra("the virtual board", "virtual")
        wanted = self._source(image)
        if self._running != wanted:
            self.close()
            self._boot(wanted)
        identity = self.client.identify()
        return prove(
            self.client, identity, image, self.id, name=self.spec.name, build_id=wanted.build_id
        )

    def _boot(self, wanted: Executable) -> None:
        log = self._make_folder("virtual") / "log.txt"
        arguments = ["--chip", self.spec.chip, "--image", str(wanted.path)]
        if pins := self.spec.power_pins:
            arguments += ["--pins", *(str(pins[name]) for name in PINS)]
        if self._gdb_port is not None:
            arguments += ["--gdb", str(self._gdb_port)]
        self._process = ControlledProcess(self.id, "pytest_autodeploy.virtual", arguments, log)
        ready = self._process.reply("start", START_TIMEOUT_S)
        if not ready.get("ready"):
            raise BoardUnavailable(
                f"cannot start: {ready.get('error')}",
                board=self.id,
                hint="`autodeploy doctor` tells what virtual boards need",
            )
        self._open(str(ready["port"]))
        self._running = wanted
        self.use.flashes += 1
        self._exact = False
        self.image_sha256 = hashlib.sha256(wanted.path.read_bytes()).hexdigest()

    def explain(self, error: BoardError) -> BoardError:
        """With the last line of the machine's log: a fault, or a register that nobody models."""
        explained = super().explain(error)
        text = self._process.last_line() if self._process is not None else ""
        if text and text not in str(explained):
            said = f"the last line of the machine's log: {text}"
            explained.hint = f"{explained.hint}; {said}" if explained.hint else said
        return explained

    def want_times(self, wanted: bool) -> None:
        """Count every instruction from now on, or let what an IT block skips go."""
        if self._process is None or wanted == self._exact:
            return
        self.control({"op": "count", "exact": wanted}, ORDER_TIMEOUT_S)
        self._exact = wanted

    def control(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send an order to the machine and return the answer."""
        if self._process is None:
            raise BoardUnavailable("not started", board=self.id, hint=NOT_YET)
        return self._process.request(str(message["op"]), message, timeout_s)

    def close(self) -> None:
        super().close()
        self._running = self.image_sha256 = None
