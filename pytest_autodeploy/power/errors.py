"""What goes wrong with a measurement of energy; every fault is an error of its own."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_autodeploy.base.errors import AutodeployError


class PowerError(AutodeployError):
    """Root of what goes wrong with power meters and their windows."""


class NoMeter(PowerError):
    """No meter was chosen for the board."""


class MeterUnavailable(PowerError):
    """The meter that was asked for is not there, or another program holds it."""


class MeterFailed(PowerError):
    """The meter stopped delivering samples, or delivers what no meter does."""

    usual_hint = "connect the meter again; `autodeploy doctor` tells what it finds of it"


class CaptureError(PowerError):
    """A capture cannot be read or written, or it is not of what is to be measured."""

    usual_hint = "record one by --autodeploy-save-capture, with this model, board and clock"


class WiringFault(PowerError):
    """A line between meter and board does not do what it should."""

    usual_hint = "check the lines with --autodeploy-check-wiring"


class BoardRestarted(PowerError):
    """The board restarted during the window."""


class WindowFault(PowerError):
    """A window was found whose figures are not to be trusted."""


def no_mode(board_id: str, wanted: Iterable[str], able: Iterable[str]) -> PowerError:
    """What is said of clock modes that a board does not have."""
    return PowerError(
        f"the board has no {' or '.join(wanted)} clock",
        board=board_id,
        hint=f"its modes are {', '.join(able)}",
    )
