"""What a run over pins needs, told before anything is touched."""

from __future__ import annotations

from pytest_autodeploy.catalog.kinds import HARDWARE, kind_of
from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.settings.meter_syntax import parse_choice
from pytest_autodeploy.settings.settings import SettingError, Settings

TESTS = ("test_energy", "test_latency", "test_npu_estimate")
"""The built-in tests that there are for a board without RPC."""


def check_over_pins(settings: Settings) -> None:
    """A board without RPC needs a characterisation, a probe, a live meter, and limits of energy.

    Raises SettingError.
    """
    origin = settings.sources["power_link"]
    if settings.artifacts_from is None:
        raise SettingError(
            f"{origin}: a board without RPC cannot be characterised: give --autodeploy-from=DIR",
            hint="DIR has NAME_mc.json and NAME_md.json of a run on another board, such as its "
            "simulated one or an EVB with USB",
        )
    for board_id in settings.evb:
        attached = settings.evb_port is not None or settings.attaches(board_id)
        if kind_of(board_id) != HARDWARE or attached:
            raise SettingError(
                f"{origin}: {board_id} has no probe that flashes the power application",
                hint="it is for EVBs, without --evb-port",
            )
    if settings.power is None or parse_choice(settings.power).kind != "joulescope":
        raise SettingError(
            f"{origin} needs --autodeploy-power joulescope", hint="pins are led by a live meter"
        )
    if settings.save_capture:
        raise SettingError(
            f"{settings.sources['save_capture']} keeps no streams of --autodeploy-power-link pins",
            hint="leave one of them out",
        )
    _check_judged_over_pins(settings)


def _check_judged_over_pins(settings: Settings) -> None:
    for name, texts in settings.limits.items():
        typed = [origin for _, origin in texts if origin.startswith("--")]
        if typed and BY_NAME[name].suite_test not in TESTS:
            raise SettingError(
                f"{typed[0]} cannot be judged over pins: nothing but time and power is known there",
                hint="judge it in the run on the board that is characterised",
            )
    for name in ("compare", "update_baseline"):
        if name in settings.sources and getattr(settings, name):
            raise SettingError(
                f"{settings.sources[name]} is not for --autodeploy-power-link pins",
                hint="keep the results with --autodeploy-history",
            )
