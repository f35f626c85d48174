"""The J-Link at an exporter: J-Link Commander is run there, through ssh.

labgrid has no driver for J-Link Commander. It tells where a probe is (``NetworkUSBDebugger``: the
host and the place on its USB), and its drivers for such probes copy files there and run tools there
by ssh (labgrid/driver/openocddriver.py, 26.0). So it is done here, with J-Link Commander.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.process import Finished, run_tool
from pytest_autodeploy.board.jlink import JLink
from pytest_autodeploy.board.labgrid.serial_port import proxy
from pytest_autodeploy.board.probe import ProbeUnavailable

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.listing import Resource

USB_DEBUGGER = "NetworkUSBDebugger"
SEGGER = 0x1366
COMMANDER = "JLinkExe"
SSH_S = 30.0
"""For a command of ssh or scp beside J-Link Commander's own time."""

_OPTIONS = ("-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=10")
_USB_PLACE = re.compile(r"\d+-\d+(\.\d+)*")
_NOT_REACHED, _NOT_FOUND = 255, 127
"""ssh's own exit code, and a shell's for a program that is not there."""


def find_jlink(resources: Sequence[Resource]) -> Resource | None:
    """The J-Link among the resources of a place, None when there is none."""
    found = [each for each in resources if each.kind == USB_DEBUGGER]
    jlinks = [each for each in found if each.params.get("vendor_id") == SEGGER]
    return jlinks[0] if len(jlinks) == 1 else None


class ExporterJLink(JLink):
    """The J-Link that is ``resource`` of a place, which ``board`` is wired to.

    ``device`` is J-Link's name of its chip; ``through`` a host on the way, as LG_PROXY has it.
    """

    def __init__(
        self, board: str, device: str, resource: Resource, *, through: str | None = None
    ) -> None:
        super().__init__(board, device)
        self._resource = resource
        self._host = proxy(resource) or str(resource.params.get("host"))
        self._jump = ("-J", through) if through else ()

    def serial_number(self) -> str:
        """The serial number that the probe has on the USB of its host."""
        if self._serial is None:
            place = str(self._resource.params.get("path"))
            if not _USB_PLACE.fullmatch(place):
                raise self._away(f"it is not on USB ({place!r}): it may be unplugged")
            done = self._ssh(["cat", f"/sys/bus/usb/devices/{place}/serial"])
            number = done.output.strip().lstrip("0")
            if done.code or not number.isdigit():
                raise self._away(f"it tells no serial number: {done.output.strip()[-200:]}")
            self._serial = number
        return self._serial

    def _find(self) -> str:
        return COMMANDER

    def _launch(self, command: list[str], timeout_s: float, folder: Path) -> Finished:
        """Copy the folder to the host, run J-Link Commander there, and remove the copy."""
        # Everybody writes to that folder of the host: ours has to be new, and this user alone's.
        there = f"/tmp/autodeploy-jlink-{secrets.token_hex(8)}"  # noqa: S108
        self._must(self._ssh(["mkdir", "-m", "700", there]), f"cannot make {there}")
        try:
            files = [str(path) for path in sorted(folder.iterdir())]
            # sftp, which scp speaks since OpenSSH 9.0, has no shell to quote for.
            copy = ["scp", "-q", *_OPTIONS, *self._jump, "--", *files, f"{self._host}:{there}/"]
            self._must(self._run_here(copy, SSH_S + timeout_s), "cannot copy the image there")
            words = f"cd {there} && exec {shlex.join(command)}"
            done = self._ssh([words], timeout_s, quoted=True)
        finally:
            self._ssh(["rm", "-rf", there])
        if done.code == _NOT_REACHED:
            raise self._away(f"the way there broke: {done.output.strip()[-200:]}")
        if done.code == _NOT_FOUND:
            raise self._away(
                f"{COMMANDER} is not on PATH there", "install SEGGER's J-Link software there"
            )
        return done

    def _ssh(
        self, words: Sequence[str], timeout_s: float = 0.0, *, quoted: bool = False
    ) -> Finished:
        """Run a command on the exporter's host, whose shell reads it."""
        text = " ".join(words) if quoted else shlex.join(words)
        command = ["ssh", "-x", *_OPTIONS, *self._jump, "--", self._host, text]
        return self._run_here(command, SSH_S + timeout_s)

    def _run_here(self, command: Sequence[str], timeout_s: float) -> Finished:
        try:
            return run_tool(command, timeout_s=timeout_s)
        except OSError as error:
            raise self._away(f"cannot run {command[0]}: {error.strerror}") from None

    def _must(self, done: Finished, what: str) -> None:
        if done.code != 0:
            raise self._away(f"{what}: {done.output.strip()[-200:] or done.how}")

    def _away(self, why: str, hint: str | None = None) -> ProbeUnavailable:
        return ProbeUnavailable(
            f"the J-Link {self._resource.path} at {self._host}: {why}",
            board=self._board,
            hint=hint or f"`ssh {self._host}` has to work without a question",
        )
