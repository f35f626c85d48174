"""Makers of boards that are not at this PC: lent by a lab, or recorded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.board.order import Order
from pytest_autodeploy.catalog.kinds import LEASED, kind_of, split

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.settings.settings import Settings


def learn(names: Iterable[str], settings: Settings) -> None:
    """Ask labs which boards are at the places among these names, where these do not say it.

    Raises LabError, UnknownBoard.
    """
    lent = [board_id for board_id in names if kind_of(board_id) == LEASED]
    if lent:
        from pytest_autodeploy.board.labgrid.types import learn_types

        learn_types(lent, settings.evb_labgrid_client)


def leased(order: Order) -> Board:
    """What a lab lends: flashed where there is a J-Link, else attached to. It says what it is."""
    from pytest_autodeploy.board.labgrid.board import LeasedBoard
    from pytest_autodeploy.board.labgrid.lease import Lease
    from pytest_autodeploy.board.labgrid.reached import reach
    from pytest_autodeploy.catalog.places import parse_place

    settings, spec = order.settings, order.spec
    lease = Lease(
        order.board_id,
        spec.name,
        parse_place(split(order.board_id)[1]),
        program=settings.evb_labgrid_client,
        wait_s=settings.evb_wait,
    )
    return LeasedBoard(order.board_id, spec, lease, partial(reach, order))


def recorded(order: Order) -> Board:
    """What a board answered in an earlier run."""
    from pytest_autodeploy.board.recorded.board import RecordedBoard

    return RecordedBoard(order.board_id, order.spec, Path(split(order.board_id)[1]))
