"""Flashing and resetting through SEGGER's J-Link Commander."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pytest_autodeploy.base.process import Finished, run_tool
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.board.jlink_output import (
    PROBE,
    Failure,
    connected_probes,
    flash_failure,
    reset_failure,
)
from pytest_autodeploy.board.probe import (
    Connected,
    FlashFailed,
    ProbeFailed,
    ProbeUnavailable,
    check_image,
    listing,
    only_one,
)

FLASH_TIMEOUT_S = 120.0
SHORT_TIMEOUT_S = 20.0
SPEED_KHZ = 4000

COMMANDER = "JLink.exe" if os.name == "nt" else "JLinkExe"

_IMAGE = "image.bin"
_SCRIPT = "commands.jlink"


def find_commander(executable: str | None = None) -> str | None:
    """J-Link Commander, or what is given in its place; None when it is not there."""
    found = shutil.which(executable or COMMANDER)
    if found is None and os.name == "nt" and executable is None:
        found = shutil.which(COMMANDER, path=r"C:\Program Files\SEGGER\JLink")
    return str(Path(found).absolute()) if found else None


class JLink:
    """The J-Link probe of ``board``, whose chip J-Link knows as ``device``.

    ``serial`` chooses one of several probes; ``executable`` is J-Link Commander when it is not on
    PATH; ``flash_timeout_s`` bounds a flash, ``timeout_s`` everything else.
    """

    def __init__(
        self,
        board: str,
        device: str,
        *,
        serial: str | None = None,
        executable: str | None = None,
        flash_timeout_s: float = FLASH_TIMEOUT_S,
        timeout_s: float = SHORT_TIMEOUT_S,
    ) -> None:
        self._board = board
        self._device = device
        self._serial = serial
        self._executable = executable
        self._flash_timeout_s = flash_timeout_s
        self._timeout_s = timeout_s

    def serial_number(self) -> str:
        """The serial number that was given, or that of the only J-Link that is connected."""
        if self._serial is None:
            self._serial = only_one(self.probes(), self._board)
        return self._serial

    def probes(self) -> list[Connected]:
        """All J-Links on USB. Raises ProbeUnavailable when J-Link Commander cannot be run."""
        done = self._run(["ShowEmuList USB"], [], self._timeout_s)
        if done.code is None:
            raise ProbeUnavailable(
                "J-Link Commander does not list the probes",
                board=self._board,
                seconds=self._timeout_s,
                hint="start it by hand: it may ask for an update of the probe",
            )
        return connected_probes(done.output)

    def flash(self, image: Path, address: int) -> None:
        """Program ``image`` to ``address``; success is what J-Link says, not its exit code."""
        check_image(image, self._board)
        # Reset leaves the core halted: without Go the firmware would not start.
        commands = [f"LoadFile {_IMAGE}, 0x{address:x}", "Reset", "Go"]
        done = self._work(commands, self._flash_timeout_s, image)
        if done.code is None:
            raise self._late("flash", done, self._flash_timeout_s, FlashFailed)
        failure = flash_failure(done.code, done.output)
        if failure:
            raise self._failed("flash", failure, done, FlashFailed)

    def reset(self) -> None:
        """Restart the board through the probe."""
        done = self._work(["Reset", "Go"], self._timeout_s)
        if done.code is None:
            raise self._late("reset", done, self._timeout_s, ProbeFailed)
        failure = reset_failure(done.code, done.output)
        if failure:
            raise self._failed("reset", failure, done, ProbeFailed)

    def _work(self, commands: list[str], timeout_s: float, image: Path | None = None) -> Finished:
        # All of it is said in advance: what Commander has to know and was not told, it asks for.
        chip = [f"Device {self._device}", "SelectInterface SWD", f"Speed {SPEED_KHZ}", "Connect"]
        select = ["-SelectEmuBySN", self.serial_number()]
        return self._run([*chip, *commands], select, timeout_s, image)

    def _run(
        self, commands: list[str], select: list[str], timeout_s: float, image: Path | None = None
    ) -> Finished:
        """Run a command script in a folder of its own, so that no path has to be quoted."""
        executable = self._find()
        with Scratch("jlink") as made:
            folder = made.path
            if image:
                shutil.copyfile(image, folder / _IMAGE)
            # Without ExitOnError, Commander goes on with the next command after one that failed.
            script = "\n".join(["ExitOnError 1", *commands, "Exit", ""])
            (folder / _SCRIPT).write_text(script, encoding="ascii")
            # With a GUI, a dialog such as that on an update of the probe would wait for a click.
            command = [executable, "-NoGui", "1", *select, "-CommandFile", _SCRIPT]
            return self._launch(command, timeout_s, folder)

    def _launch(self, command: list[str], timeout_s: float, folder: Path) -> Finished:
        """Run J-Link Commander in a folder that has what it needs."""
        try:
            return run_tool(command, timeout_s=timeout_s, folder=folder)
        except OSError as error:
            raise ProbeUnavailable(
                f"cannot run J-Link Commander: {error}",
                board=self._board,
                hint="install SEGGER's J-Link software, or use pyOCD where it knows the chip",
            ) from error

    def _find(self) -> str:
        found = find_commander(self._executable)
        if found is None:
            where = f"{self._executable} is not there" if self._executable else "not on PATH"
            raise ProbeUnavailable(
                f"J-Link Commander ({COMMANDER}): {where}",
                board=self._board,
                hint="install SEGGER's J-Link software, or use pyOCD where it knows the chip",
            )
        return found

    def _late(
        self, task: str, done: Finished, timeout_s: float, kind: type[ProbeFailed]
    ) -> ProbeFailed:
        lines = done.output.strip().splitlines()
        return kind(
            f"{task}: J-Link did not finish",
            board=self._board,
            seconds=timeout_s,
            hint=f"its last line was {lines[-1].strip()!r}" if lines else "it said nothing",
        )

    def _failed(
        self, task: str, failure: Failure, done: Finished, kind: type[ProbeFailed]
    ) -> ProbeFailed | ProbeUnavailable:
        said = f"said {failure.line!r}" if failure.line else "said nothing"
        what = f"{task}: {failure.complaint.meaning} (J-Link {said} and {done.how})"
        if failure.complaint.topic == PROBE:
            advice = f"--evb-probe {self._serial}: {failure.complaint.advice}"
            hint = f"{advice}\n  {listing(self.probes())}"
            return ProbeUnavailable(what, board=self._board, hint=hint)
        return kind(what, board=self._board, hint=failure.complaint.advice or None)
