"""The meters of a rig: each board has its supply through its own, and one may serve several.

A meter of one board is open as long as the board is leased: opening a JS110 interrupts the supply
(pyjoulescope issue 33). One that serves several is open only while it switches or measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_autodeploy.board.pooled import PooledBoard

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.catalog.rig import RigBoard
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.settings.settings import Settings


def rig_meter(board: Board) -> str | None:
    """The serial number of the meter of a board that is leased from a rig."""
    if not isinstance(board, PooledBoard) or board.rig_board is None:
        return None
    return number_of(board.rig_board.meter)


def number_of(meter: str | None) -> str | None:
    """The serial number alone: a rig file may say JS220-000415."""
    return meter.rpartition("-")[2] if meter else None


def is_shared(serial: str | None, settings: Settings) -> bool:
    """Whether a meter serves several boards of the rig."""
    boards = settings.rig.boards if settings.rig else ()
    return serial is not None and sum(number_of(each.meter) == serial for each in boards) > 1


def serve_rig(
    board: Board,
    settings: Settings,
    meter: Callable[[str | None, float], Meter],
    serial: str | None,
) -> bool:
    """See to the supply of each board of a rig that is leased from now on: of those with a meter.

    False for what is none of a rig. ``meter`` gives that of a serial number and an IO voltage,
    ``serial`` is that of a meter that was chosen for all boards.
    """
    if not isinstance(board, PooledBoard):
        return False
    boards = settings.rig.of(board.id) if settings.rig else ()
    if serial is None:
        board.avoid |= {each.name for each in boards if each.meter is None}

    def supply(leased: RigBoard) -> None:
        number = serial or number_of(leased.meter)
        mine = meter(number, board.spec.io_voltage)
        mine.open()
        try:
            mine.supply(True)
        finally:
            if is_shared(number, settings):
                mine.close()

    def let_go(leased: RigBoard) -> None:
        meter(serial or number_of(leased.meter), board.spec.io_voltage).close()

    board.on_lease, board.on_give_up = supply, let_go
    return True
