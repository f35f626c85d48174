"""Whether the boards of a run are there for what the settings ask of them."""

from __future__ import annotations

from pytest_autodeploy.board.select import check_names
from pytest_autodeploy.catalog.kinds import VIRTUAL, kind_of
from pytest_autodeploy.run.commissioned import check_boards_commissioned
from pytest_autodeploy.run.counters_check import check_counters
from pytest_autodeploy.run.dialect_check import check_dialect
from pytest_autodeploy.run.rescue_check import check_rescue
from pytest_autodeploy.settings.rig_check import check_rig
from pytest_autodeploy.settings.settings import SettingError, Settings


def check_boards(settings: Settings) -> None:
    """Raise an AutodeployError for the first board that is not what a setting needs."""
    check_names(settings.evb, settings)
    check_rig(settings)
    _check_left(settings)
    check_rescue(settings)
    check_counters(settings)
    check_dialect(settings)
    _check_gdb(settings)
    check_boards_commissioned(settings)


def _check_left(settings: Settings) -> None:
    """See that of each board at least one is not taken out. Raises BoardUnavailable."""
    rig = settings.rig
    wanted = [board_id for board_id in settings.evb if rig is not None and rig.of(board_id)]
    if rig is None or not wanted:
        return
    from pytest_autodeploy.board.pool import Pool

    for board_id in wanted:
        Pool(rig).candidates(board_id)


def _check_gdb(settings: Settings) -> None:
    """GDB debugs the one board of a run, which is virtual."""
    if settings.evb_gdb and [kind_of(board) for board in settings.evb] != [VIRTUAL]:
        raise SettingError(
            f"{settings.sources['evb_gdb']}: GDB debugs one virtual board, and this run has "
            f"{', '.join(settings.evb)}",
            hint=f"give --evb {VIRTUAL.prefix}{VIRTUAL.example} alone; EVBs are debugged through "
            "their probe",
        )
