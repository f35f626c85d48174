"""A dialect that the boards of a run cannot speak, or that cannot give what is required."""

from __future__ import annotations

from pytest_autodeploy.catalog.kinds import LEASED, kind_of
from pytest_autodeploy.settings.settings import SettingError, Settings


def check_dialect(settings: Settings) -> None:
    """Raise SettingError for stock firmware where there can be none, or where none is wanted."""
    if settings.evb_dialect != "stock":
        return
    origin = settings.sources["evb_dialect"]
    others = [board_id for board_id in settings.evb if not kind_of(board_id).is_hardware]
    known = [board_id for board_id in settings.evb if kind_of(board_id) != LEASED]
    flashed = [board_id for board_id in known if not settings.attaches(board_id)]
    if others or flashed:
        which = f"{others[0]} is none" if others else "this run would flash its own firmware"
        raise SettingError(
            f"{origin} stock is for an EVB that AutoDeploy has flashed: {which}",
            hint="name it and its port: --evb apollo4p_evb --evb-port=URL, without --evb-probe",
        )
    if settings.evb_require_proof:
        raise SettingError(
            f"{settings.sources['evb_require_proof']}: stock firmware does not tell which model "
            f"it runs, and {origin} asks for it",
            hint="give one of them",
        )
