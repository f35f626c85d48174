"""Flashing and resetting through pyOCD, where it knows the chip."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.process import Finished, run_tool
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
SHORT_TIMEOUT_S = 30.0
SPEED = "4M"

_PROGRAMMED = re.compile(r"programmed (\d+) bytes", re.IGNORECASE)
# A line of pyOCD's log: milliseconds, then the letter of its level, critical or error.
_LEVEL = re.compile(r"^\d+ [CE] ")


def find_pyocd() -> list[str]:
    """The words that start pyOCD: that of this Python, or one on PATH; none when it is missing."""
    if importlib.util.find_spec("pyocd"):
        return [sys.executable, "-P", "-m", "pyocd"]
    found = shutil.which("pyocd")
    return [found] if found else []


class PyOcd:
    """The probe of ``board`` driven by pyOCD, for the chip that J-Link knows as ``device``.

    ``serial`` chooses one of several probes; ``flash_timeout_s`` bounds a flash, ``timeout_s``
    everything else. Raises ProbeUnavailable at first use when pyOCD does not know the chip.
    """

    def __init__(
        self,
        board: str,
        device: str,
        *,
        serial: str | None = None,
        flash_timeout_s: float = FLASH_TIMEOUT_S,
        timeout_s: float = SHORT_TIMEOUT_S,
    ) -> None:
        self._board = board
        self._device = device
        self._serial = serial
        self._flash_timeout_s = flash_timeout_s
        self._timeout_s = timeout_s
        self._target: str | None = None

    def serial_number(self) -> str:
        """The unique id that was given, or that of the only probe that is connected."""
        if self._serial is None:
            self._serial = only_one(self.probes(), self._board)
        return self._serial

    def probes(self) -> list[Connected]:
        """All probes that pyOCD sees."""
        boards = self._ask("probes").get("boards", [])
        return [Connected(str(board["unique_id"]), str(board["info"])) for board in boards]

    def target(self) -> str:
        """pyOCD's name of the chip. Raises ProbeUnavailable when it knows none."""
        if self._target is None:
            names = [str(target["name"]) for target in self._ask("targets").get("targets", [])]
            known = {_plain(name): name for name in names}
            if _plain(self._device) not in known:
                raise ProbeUnavailable(
                    f"pyOCD does not know the chip {self._device}",
                    board=self._board,
                    hint="install its CMSIS pack (pyocd pack install), or flash with J-Link",
                )
            self._target = known[_plain(self._device)]
        return self._target

    def flash(self, image: Path, address: int) -> None:
        """Program ``image`` to ``address``; success is what pyOCD says that it programmed."""
        check_image(image, self._board)
        # How much was programmed is logged as information, which pyOCD shows with -v only.
        options = ["-v", "--format", "bin", "--base-address", hex(address), str(image.absolute())]
        done = self._work("flash", options, self._flash_timeout_s, FlashFailed)
        if not _PROGRAMMED.search(done.output):
            raise self._failed("flash", done, FlashFailed)

    def reset(self) -> None:
        """Restart the board through the probe."""
        self._work("reset", [], self._timeout_s, ProbeFailed)

    def _work(
        self, task: str, options: list[str], timeout_s: float, kind: type[ProbeFailed]
    ) -> Finished:
        chip = ["--target", self.target(), "--uid", self.serial_number(), "--frequency", SPEED]
        # Without --no-wait pyOCD waits for ever for a probe that is not connected.
        done = self._run([task, "--no-wait", *chip, *options], timeout_s)
        if done.code is None:
            raise kind(
                f"{task}: pyOCD did not finish",
                board=self._board,
                seconds=timeout_s,
                hint="disconnect the probe, connect it again, and run again",
            )
        if done.code != 0:
            raise self._failed(task, done, kind)
        return done

    def _ask(self, what: str) -> dict[str, Any]:
        """One of pyOCD's listings in JSON."""
        done = self._run(["json", f"--{what}"], self._timeout_s)
        # Lines of the log, such as warnings about packs, may stand before and behind the JSON.
        start, end = done.output.find("{"), done.output.rfind("}")
        try:
            answer: dict[str, Any] = json.loads(done.output[start : end + 1])
        except ValueError:
            raise ProbeUnavailable(
                f"pyOCD does not list its {what} ({_last_line(done)})",
                board=self._board,
                seconds=self._timeout_s if done.code is None else None,
                hint="run `pyocd json --probes` by hand to see why",
            ) from None
        return answer

    def _run(self, arguments: list[str], timeout_s: float) -> Finished:
        try:
            return run_tool([*self._find(), *arguments], timeout_s=timeout_s)
        except OSError as error:
            raise ProbeUnavailable(
                f"cannot run pyOCD: {error}",
                board=self._board,
                hint="pip install --force-reinstall pyocd, or flash with J-Link",
            ) from error

    def _find(self) -> list[str]:
        command = find_pyocd()
        if not command:
            raise ProbeUnavailable(
                "pyOCD is not installed",
                board=self._board,
                hint="pip install pyocd, or flash with J-Link",
            )
        return command

    def _failed(
        self, task: str, done: Finished, kind: type[ProbeFailed]
    ) -> ProbeFailed | ProbeUnavailable:
        text = _last_line(done)
        if "debug probe" in done.output.lower():
            hint = listing(self.probes())
            return ProbeUnavailable(f"{task}: {text}", board=self._board, hint=hint)
        return kind(
            f"{task}: pyOCD {done.how} ({text})",
            board=self._board,
            hint="check the debug cable and the board's power, or flash with J-Link",
        )


def _plain(name: str) -> str:
    """A chip's name without what J-Link and pyOCD write differently."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _last_line(done: Finished) -> str:
    lines = [line.strip() for line in done.output.splitlines() if line.strip()]
    errors = [line for line in lines if _LEVEL.match(line) or "probe" in line.lower()]
    return (errors or lines or ["it said nothing"])[0][:200]
