"""The power meter of a run, and how its boards are led, told before anything is touched."""

from __future__ import annotations

from pytest_autodeploy.run.over_pins_check import check_over_pins
from pytest_autodeploy.settings.meter_choice import owns_meter
from pytest_autodeploy.settings.meter_syntax import parse_choice
from pytest_autodeploy.settings.settings import SettingError, Settings

_RELATIVE = (
    "a relative path starts where pytest was started, one of the ini file at the root folder"
)


def check_power(settings: Settings, *, read: bool) -> None:
    """Raise SettingError for a meter that cannot be; with ``read`` a capture has to be there."""
    _check_meter(settings, read=read)
    if settings.over_pins:
        check_over_pins(settings)


def _check_meter(settings: Settings, *, read: bool) -> None:
    if settings.power is None:
        return
    origin = settings.sources["power"]
    try:
        choice = parse_choice(settings.power)
    except ValueError as error:
        raise SettingError(f"{origin}: {error}") from None
    if read and choice.kind == "replay" and not (settings.root / str(choice.what)).exists():
        raise SettingError(f"{origin}: no such file or folder: {choice.what}", hint=_RELATIVE)
    if choice.kind == "sim" and not any(owns_meter(board, settings) for board in settings.evb):
        raise SettingError(
            f"{origin}: sim is for simulated boards that this run starts, and for virtual EVBs",
            hint="choose joulescope or a .jls capture, or --evb sim:NAME without --evb-port",
        )
