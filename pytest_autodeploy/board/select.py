"""From the name that a user typed to a board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.makers import Order, maker_of
from pytest_autodeploy.catalog.kinds import kind_of, spec_of
from pytest_autodeploy.settings.settings import SettingError, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.base import Board


def make_board(
    board_id: str, settings: Settings, cache: Path | None, options: Mapping[str, Any] | None = None
) -> Board:
    """The board that ``--evb board_id`` names; nothing is started.

    ``cache`` is the folder for built firmware, None the user's own; ``options`` are those of the
    fixture ``evb_options``. Raises UnknownBoard, BrokenKind.
    """
    kind = kind_of(board_id)
    taken = {key: value for key, value in (options or {}).items() if key in kind.options}
    order = Order(board_id, spec_of(board_id), settings, cache, taken)
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
        hardware_only=settings.evb_require_hardware,
        timeout_s=settings.evb_timeout,
    )


def check_names(names: Iterable[str], settings: Settings) -> None:
    """Check boards without starting one. Raises UnknownBoard, BrokenKind or SettingError."""
    for board_id in names:
        kind = kind_of(board_id)
        spec_of(board_id)
        if settings.evb_require_hardware and not kind.is_hardware:
            raise SettingError(
                f"--evb-require-hardware: {board_id} is no hardware\n"
                "  Name an EVB, such as --evb apollo4p_evb."
            )
        if settings.evb_port is not None and not kind.attachable:
            raise SettingError(f"--evb-port: {board_id} is started by this run and has no port")
