"""The emulated board: the Arm firmware of a model on a Cortex-M machine of QEMU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.identity import prove
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.image.image_builder import ImageBuilder
from pytest_autodeploy.image.tool import find_program

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.cache import Built
    from pytest_autodeploy.image.firmware import Builder
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity

QEMU = "qemu-system-arm"
INSTALL = "Debian and Ubuntu: apt install qemu-system-arm; macOS: brew install qemu."
START_TIMEOUT_S = 30.0

_INSTRUCTION_NS = "shift=5"
"""Virtual time goes on by 2^5 ns with each instruction: timers count instructions, exactly."""

_RAM_BYTES = {"mps2-an386": 16 << 20, "mps3-an547": 2 << 30}
"""Size of the memory that QEMU shares, which it insists on."""


class EmulatedBoard(ProcessBoard):
    """A machine of QEMU; ``builder`` makes the firmware, ``timeout_s`` bounds each RPC call.

    QEMU is started for an image and restarted only for another one. Its figures are counts of
    instructions: exact and repeatable, without caches, wait states or power.
    """

    def __init__(
        self, board_id: str, spec: BoardSpec, builder: Builder, *, timeout_s: float
    ) -> None:
        super().__init__(board_id, spec, timeout_s)
        self._builder = builder
        self._running: str | None = None

    def start(self) -> None:
        """Nothing to power up before there is an image."""

    def placement(self, image: Image) -> Placement | None:
        """Where an image has its model and its arena, None when that is not known."""
        builder = self._builder
        return builder.placement(image) if isinstance(builder, ImageBuilder) else None

    def load(self, image: Image) -> Identity:
        built = self._builder.build(image)
        if self._running != built.build_id:
            self.close()
            self._boot(built)
        identity = self.client.identify()
        return prove(
            self.client, identity, image, self.id, name=self.spec.name, build_id=built.build_id
        )

    def _boot(self, built: Built) -> None:
        if os.name != "posix":
            raise BoardUnavailable(
                "emulated boards need Linux or macOS",
                board=self.id,
                hint="on Windows use WSL, or a simulated board: --evb sim:NAME",
            )
        qemu = find_program(QEMU, needed=f"the emulated board {self.id}", install=INSTALL)
        log = self._make_folder("qemu") / "log.txt"
        self._process = ControlledProcess(
            self.id,
            "pytest_autodeploy.board.qemu",
            [str(_RAM_BYTES[self.spec.name]), str(qemu), *self._arguments(built)],
            log,
        )
        self._open(str(self._process.reply("start", START_TIMEOUT_S)["port"]))
        self._running = built.build_id
        self.use.flashes += 1

    def _arguments(self, built: Built) -> list[str]:
        return [
            *("-machine", self.spec.name),
            *("-kernel", str(built.file(".elf"))),
            # Without it virtual time is the PC's, and timers would measure the load of this
            # machine. DWT's cycle counter reads 0 (QEMU 7.2), so the firmware counts with SysTick.
            *("-icount", _INSTRUCTION_NS),
            *("-display", "none"),
            *("-monitor", "none"),
        ]

    def close(self) -> None:
        super().close()
        self._running = None
