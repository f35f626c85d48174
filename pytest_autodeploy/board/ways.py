"""The way to a board: one that the run starts, one behind a port, or any that a rig has of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pytest_autodeploy.board.makers import maker_of
from pytest_autodeploy.board.order import Order
from pytest_autodeploy.catalog.kinds import kind_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board, SharedBoard
    from pytest_autodeploy.catalog.rig import Rig, RigBoard


def board_of(order: Order) -> Board:
    """The board of an order; nothing is started."""
    rig = order.settings.rig
    if rig is not None and rig.of(order.board_id):
        return _pooled(order, rig)
    return _make(order)


def _pooled(order: Order, rig: Rig) -> Board:
    """Any board of the rig that the id may mean."""
    from pytest_autodeploy.board.pool import Pool
    from pytest_autodeploy.board.revived import RevivedBoard

    def make(board: RigBoard) -> SharedBoard:
        own = replace(order.settings, evb_port=board.port, evb_probe=board.probe)
        # A rig has none of the kinds that are not shared.
        return cast("SharedBoard", _make(replace(order, settings=own)))

    wait_s = order.settings.evb_wait
    return RevivedBoard(order.board_id, order.spec, Pool(rig), make, wait_s=wait_s)


def _make(order: Order) -> Board:
    kind, settings = kind_of(order.board_id), order.settings
    if kind.attachable and settings.evb_port is not None and settings.evb_probe is None:
        return _attached(order)
    return maker_of(kind)(order)


def _attached(order: Order) -> Board:
    from pytest_autodeploy.board.attached import AttachedBoard

    settings = order.settings
    return AttachedBoard(
        order.board_id,
        order.spec,
        str(settings.evb_port),
        dialect=settings.evb_dialect if kind_of(order.board_id).is_hardware else "own",
        hardware_only=settings.evb_require_hardware,
        require_proof=settings.evb_require_proof,
        timeout_s=settings.evb_timeout,
        lock_timeout_s=settings.evb_wait,
    )
