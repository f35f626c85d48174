"""The virtual board: the very image that is flashed to an EVB, on an emulated core."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BoardUnavailable, MissingExtra
from pytest_autodeploy.board.identity import check_identity
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.catalog.boards import PINS

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.image.image_builder import ImageBuilder
    from pytest_autodeploy.rpc.messages import Identity

START_TIMEOUT_S = 30.0
ORDER_TIMEOUT_S = 30.0
"""An order is obeyed between two slices of instructions."""

NEEDED = ("unicorn", "elftools")


@dataclass(frozen=True)
class Executable:
    """A file to run; the build id that its firmware names and its memories, where known."""

    path: Path
    build_id: str | None
    placement: Placement | None = None


ImageSource = Callable[["Image"], Executable]


def image_source(
    board_id: str,
    spec: BoardSpec,
    options: BuildOptions,
    *,
    file: Path | None = None,
    licence_ok: bool = False,
) -> ImageSource:
    """Where the images of a board come from: its SDK's build, or ``file``.

    Nothing is built yet. What a build contains is checked; of a ``file`` the user has to say that
    its licences allow it. Raises BoardUnavailable.
    """
    if file is not None:
        return _given(board_id, file, licence_ok)
    if spec.has_sdk:
        from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

        builder: ImageBuilder = NeuralSpotBuilder(spec, options, emulated=board_id)
        suffix = ".axf"
    else:
        from pytest_autodeploy.image.cmake import CMakeBuilder

        builder, suffix = CMakeBuilder(spec, options, board_id=board_id), ".elf"

    def built(image: Image) -> Executable:
        made = builder.build(image)
        return Executable(made.file(suffix), made.build_id, builder.placement(image))

    return built


def _given(board_id: str, file: Path, licence_ok: bool) -> ImageSource:
    if not file.is_file():
        raise BoardUnavailable(
            f"--evb-image: no such file: {file}",
            board=board_id,
            hint="a relative path starts where pytest was started",
        )
    if not licence_ok:
        raise BoardUnavailable(
            f"--evb-image {file}: what it contains is not known, and some runtimes are licensed "
            "for Ambiq CPUs only",
            board=board_id,
            hint="Give --evb-image-licence-ok when its licences allow any CPU.",
        )
    return lambda _image: Executable(file, None)


class VirtualBoard(ProcessBoard):
    """A board whose image runs in a process of its own; ``timeout_s`` bounds each RPC call.

    Its figures are counts of instructions, without caches, wait states or power. They are exact
    when ``want_times`` says so; else they leave out what an IT block skips.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, source: ImageSource, *, timeout_s: float
    ) -> None:
        super().__init__(board_id, spec, timeout_s)
        self._source = source
        self._running: Executable | None = None
        self._exact = False
        self.image_sha256: str | None = None

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
        check_identity(identity, image, self.id, name=self.spec.name, build_id=wanted.build_id)
        return identity

    def _boot(self, wanted: Executable) -> None:
        log = self._make_folder("virtual") / "log.txt"
        arguments = ["--chip", self.spec.chip, "--image", str(wanted.path)]
        if pins := self.spec.power_pins:
            arguments += ["--pins", *(str(pins[name]) for name in PINS)]
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
        self._exact = False
        self.image_sha256 = hashlib.sha256(wanted.path.read_bytes()).hexdigest()

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
