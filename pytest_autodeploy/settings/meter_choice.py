"""Which power meter a board has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.kinds import kind_of, spec_of
from pytest_autodeploy.settings.meter_syntax import Choice, parse_choice

if TYPE_CHECKING:
    from pytest_autodeploy.settings.settings import Settings

NO_METER = "no power meter; give --autodeploy-power METER"


def chosen_for(board_id: str, settings: Settings) -> Choice:
    """The meter of a board: the chosen one, else the one that belongs to the board, if any."""
    kind = kind_of(board_id)
    if kind.recorded:
        return Choice("sim" if kind.own_meter else "off")
    if settings.power is not None:
        return parse_choice(settings.power)
    if boards := settings.rig.of(board_id) if settings.rig else ():
        # Where only some have one, energy is measured when it is asked for.
        return Choice("joulescope" if all(board.meter for board in boards) else "off")
    return Choice("sim") if owns_meter(board_id, settings) else Choice("off")


def owns_meter(board_id: str, settings: Settings) -> bool:
    """Whether a simulated meter belongs to a board, which this run has to start."""
    if settings.is_there(board_id) or not kind_of(board_id).own_meter:
        return False
    return bool(spec_of(board_id).power_pins)


def board_has_meter(board_id: str, settings: Settings) -> bool:
    """Whether a board has a meter."""
    return chosen_for(board_id, settings).kind != "off"


def has_meter(settings: Settings) -> bool:
    """Whether any board of the run has a meter."""
    return any(board_has_meter(board, settings) for board in settings.evb)
