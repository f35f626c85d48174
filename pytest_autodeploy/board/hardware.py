"""An evaluation board: flashed through its debug probe, used only when it proved what it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardDied, BoardError, BoardTimeout, BoardUnavailable
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.identity import (
    Firmware,
    has_image,
    loaded,
    runs,
    wrong_firmware,
)
from pytest_autodeploy.board.line import SILENT, BoardLine, Timeouts
from pytest_autodeploy.board.probe import NoProbe, ProbeFailed
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.board.usb_ports import probe_identity
from pytest_autodeploy.rpc.messages import BoardKind

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.probe import Probe
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity

LOG = logging.getLogger(__name__)

Key = tuple[str, int, bool]
"""What an image is: the SHA-256 of its model, and its arena."""

_RECOVERY = "It is reset through its probe if it is still silent at its next use."


class HardwareBoard:
    """An EVB that ``probe`` flashes with what ``firmware_for`` gives for an image.

    ``port`` is the device or URL of its serial port when that is not to be found by itself;
    ``timeout_s`` bounds each RPC call, ``wait_s`` the wait for a board in use. What
    answers as another ``kind`` of board is refused.
    """

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        *,
        probe: Probe,
        firmware_for: Callable[[Image], Firmware],
        placement_of: Callable[[Image], Placement] | None = None,
        port: str | None = None,
        timeout_s: float,
        timeouts: Timeouts | None = None,
        wait_s: float | None = None,
        kind: BoardKind = BoardKind.HARDWARE,
    ) -> None:
        self.id = board_id
        self.spec = spec
        self._probe = probe
        self._firmware_for = firmware_for
        self._placement_of = placement_of
        self._line = BoardLine(
            board_id,
            spec,
            probe,
            port=port,
            timeout_s=timeout_s,
            timeouts=timeouts or (Timeouts() if wait_s is None else Timeouts(lock_s=wait_s)),
            kind=kind,
        )
        self.use = self._line.use
        self.locks = self._line.locks
        self._firmware: dict[Key, Firmware] = {}
        self._broken: dict[Key, BoardError] = {}
        self._proven: Key | None = None
        self.serial: str | None = None
        """The serial number of its probe, None before it is known."""

    @property
    def port(self) -> str | None:
        return self._line.port

    @property
    def client(self) -> ValidatorClient:
        if self._line.client is None:
            raise BoardUnavailable("it runs nothing yet", board=self.id, hint=NOT_YET)
        return self._line.client

    def start(self) -> None:
        """Nothing to power up: the board runs."""

    def placement(self, image: Image) -> Placement | None:
        """Where an image has its model and its arena, None when that is not known."""
        return self._placement_of(image) if self._placement_of else None

    def load(self, image: Image) -> Identity:
        """Make the board run the image and prove it.

        Raises ProbeUnavailable, FlashFailed, WrongFirmware, BoardUnavailable when the port cannot
        be used, and BoardDied or BoardTimeout when the board did not come back, even after a
        reset; then it is broken for this image, and another attempt fails at once.
        """
        key = (image.model.sha256, image.arena_bytes, image.roomy)
        if key in self._broken:
            raise self._broken[key].with_traceback(None)
        try:
            identity = self._load(image, key)
        except BaseException:
            self._line.close_port()
            raise
        self._proven = key
        return identity

    def _load(self, image: Image, key: Key) -> Identity:
        try:
            # A missing tool is told before a long build.
            serial = self.serial = self._probe.serial_number()
        except NoProbe:
            self._build(image, key)  # what is wrong with it is seen without a board, too
            raise
        firmware = self._build(image, key)
        self._line.locks.hold(probe_identity(serial))
        before = self._line.ask()
        identity = self._run(firmware, image, key, before)
        names = {"board": self.id, "name": self.spec.name}
        identity = loaded(self.client, identity, image, firmware, **names)
        if not runs(identity, image, firmware, self.spec.name):
            raise wrong_firmware(identity, before, image, firmware, **names)
        return identity

    def _run(self, firmware: Firmware, image: Image, key: Key, before: Identity | None) -> Identity:
        """What a board says that was flashed or reset, if it was necessary."""
        if before is None and self._proven == key:
            return self._recover("the board does not answer any more", key)
        if before is None or not has_image(before, image, firmware, self.spec.name):
            return self._flash(firmware, key)
        LOG.debug("%s: it runs build %s already", self.id, before.build_id)
        return before

    def _build(self, image: Image, key: Key) -> Firmware:
        if key not in self._firmware:
            self._firmware[key] = self._firmware_for(image)
        return self._firmware[key]

    def _flash(self, firmware: Firmware, key: Key) -> Identity:
        self._proven = None
        self._line.close_port()
        # Not neuralSPOT's `make deploy`: its recipe ignores J-Link's failure (308c4e631), and what
        # answers then is the firmware before.
        file = firmware.file(".bin")
        LOG.debug("%s: flash %s to 0x%X", self.id, file, self.spec.load_address)
        with show_task(f"flashing {self.id}"):
            self._probe.flash(file, self.spec.load_address)
        self.use.flashes += 1
        try:
            return self._line.await_answer("flash")
        except SILENT as error:
            return self._recover(error.what, key)

    def program(self, file: Path) -> None:
        """Flash a file, whose firmware has no RPC; the next ``load`` flashes anew.

        Raises ProbeUnavailable, FlashFailed.
        """
        self._line.locks.hold(probe_identity(self._probe.serial_number()))
        self._proven = None
        self._line.close_port()
        LOG.debug("%s: program %s", self.id, file)
        with show_task(f"flashing {self.id}"):
            self._probe.flash(file, self.spec.load_address)
        self.use.flashes += 1

    def _recover(self, why: str, key: Key) -> Identity:
        """Reset a silent board, once; when that does not help it is broken for this image."""
        LOG.debug("%s: reset: %s", self.id, why)
        self.use.retries += 1
        try:
            self._probe.reset()
            return self._line.await_answer("reset through the probe")
        except (*SILENT, ProbeFailed) as error:
            kind = BoardTimeout if isinstance(error, ProbeFailed) else type(error)
            self._broken[key] = kind(
                f"{why}; {error.what}", board=self.id, seconds=error.seconds, hint=error.hint
            )
            raise self._broken[key] from None

    def explain(self, error: BoardError) -> BoardError:
        """Whether the board died in a call or is silent, from what its port does."""
        if self._line.client is None or not isinstance(error, (BoardDied, BoardTimeout)):
            return error
        port = self.port
        call = error.what.partition(":")[0]
        if self._line.vanished():
            died = f"{call}: the board died in the call: its port {port} vanished"
            return BoardDied(died, board=self.id, seconds=error.seconds, hint=_RECOVERY)
        hint = f"{error.hint}\n  {_RECOVERY}" if error.hint else _RECOVERY
        return type(error)(error.what, board=self.id, seconds=error.seconds, hint=hint)

    def discard(self) -> None:
        """Give up the port of a board that broke; the lock stays with this run."""
        self._line.close_port()

    def give_up(self) -> None:
        """Let others have the board, who may flash it."""
        self._proven = None
        self.close()

    def close(self) -> None:
        self._broken.clear()  # others may mend it, or its power is cut
        self._line.close_port()
        self._line.locks.release()
