"""Counters that are asked of a board which does not have them."""

from __future__ import annotations

from pytest_autodeploy.catalog.kinds import kind_of, spec_of
from pytest_autodeploy.settings.settings import SettingError, Settings


def check_counters(settings: Settings) -> None:
    """Raise SettingError for events, or 8-bit counters, that a board of the run does not count."""
    _check_events(settings)
    _check_dwt(settings)


def _check_events(settings: Settings) -> None:
    """Only a Cortex-M55 on silicon, or a simulated one, counts events that can be chosen."""
    for board_id in settings.evb if settings.evb_counters else ():
        core = spec_of(board_id).core
        why = kind_of(board_id).no_events
        if why or core != "cortex-m55":
            why = why or f"its {core} has none"
            raise SettingError(
                f"{settings.sources['evb_counters']}: {board_id} has no performance monitor: {why}",
                hint="leave it out, or choose an EVB with a Cortex-M55 (autodeploy boards)",
            )


def _check_dwt(settings: Settings) -> None:
    """Only a Cortex-M4 on silicon has the 8-bit counters; elsewhere there is nothing to count."""
    for board_id in settings.evb if settings.evb_dwt_counters != "off" else ():
        kind = kind_of(board_id)
        if not kind.is_hardware or spec_of(board_id).core != "cortex-m4f":
            raise SettingError(
                f"{settings.sources['evb_dwt_counters']}: {board_id} has none of these counters",
                hint="they are those of EVBs with a Cortex-M4, such as apollo4p_evb",
            )
