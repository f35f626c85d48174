"""What a debug probe does for a board, whichever tool drives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_autodeploy.base.errors import BoardError, BoardUnavailable


class ProbeUnavailable(BoardUnavailable):
    """The probe or its tool is not there, or it is not clear which probe is meant."""


class NoProbe(ProbeUnavailable):
    """The tool works, but no probe is connected."""


class ProbeFailed(BoardError):
    """The probe did not do what it was asked for."""


class FlashFailed(ProbeFailed):
    """The probe did not program the board."""


class Probe(Protocol):
    """A debug probe that is wired to a board."""

    def serial_number(self) -> str:
        """The probe's serial number: the one that was given, or that of the only one there.

        Raises ProbeUnavailable.
        """

    def flash(self, image: Path, address: int) -> None:
        """Program a binary file to ``address``, verify it and start it.

        Raises FlashFailed unless the tool itself says that it did; ProbeUnavailable.
        """

    def reset(self) -> None:
        """Restart the board. Raises ProbeFailed or ProbeUnavailable."""


@dataclass(frozen=True)
class Connected:
    """A probe that is connected to this PC."""

    serial: str
    name: str

    def __str__(self) -> str:
        return f"{self.serial} ({self.name})" if self.name else self.serial


def listing(probes: Sequence[Connected]) -> str:
    """The probes that are there, for the hint of an error."""
    return f"probes that are connected: {', '.join(map(str, probes)) or 'none'}"


def only_one(probes: Sequence[Connected], board: str) -> str:
    """The serial number of the only probe. Raises NoProbe; ProbeUnavailable that lists several."""
    if len(probes) == 1:
        return probes[0].serial
    if not probes:
        raise NoProbe(
            "no debug probe is connected",
            board=board,
            hint="connect the board's debug USB port, and switch the board on",
        )
    raise ProbeUnavailable(
        "several debug probes are connected",
        board=board,
        hint=f"choose one by --evb-probe SERIAL; {listing(probes)}",
    )


def check_image(image: Path, board: str) -> None:
    """Raise FlashFailed unless the file is there and holds something."""
    if not image.is_file():
        raise FlashFailed(
            f"flash: the firmware {image} is not there",
            board=board,
            hint="another program may have cleared the cache: run again, it is built anew",
        )
    if not image.stat().st_size:
        raise FlashFailed(
            f"flash: the firmware {image} is empty",
            board=board,
            hint="run again with another --autodeploy-cache: it is built anew",
        )
