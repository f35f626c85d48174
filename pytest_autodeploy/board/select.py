"""From the name that a user typed to a board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.board.catalog import board_spec
from pytest_autodeploy.config import SettingError, Settings
from pytest_autodeploy.options import positive_float

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board

SIMULATED = "sim:"

HOW_TO_ATTACH = (
    "this version flashes simulated boards only; use --evb sim:NAME, or --evb-port URL to attach "
    "to a board that already runs the model"
)


def make_board(board_id: str, settings: Settings, sim_arguments: Sequence[str] = ()) -> Board:
    """The board that ``--evb board_id`` names; nothing is started.

    ``sim_arguments`` are added to the command line of a simulated board.
    """
    simulated = board_id.startswith(SIMULATED)
    spec = board_spec(board_id.removeprefix(SIMULATED))
    if settings.evb_port is not None:
        from pytest_autodeploy.board.attached import AttachedBoard

        return AttachedBoard(
            board_id,
            spec,
            settings.evb_port,
            simulated=simulated,
            hardware_only=settings.evb_require_hardware,
            timeout_s=settings.evb_timeout,
        )
    from pytest_autodeploy.board.simulated import SimulatedBoard

    arguments = [*link_arguments(settings.evb_sim_link), *sim_arguments]
    return SimulatedBoard(board_id, spec, timeout_s=settings.evb_timeout, arguments=arguments)


def check_names(names: Iterable[str], settings: Settings) -> None:
    """Check boards without starting one. Raises UnknownBoard or SettingError."""
    for board_id in names:
        simulated = board_id.startswith(SIMULATED)
        board_spec(board_id.removeprefix(SIMULATED))
        if settings.evb_require_hardware and simulated:
            raise SettingError(f"--evb-require-hardware: {board_id} is a simulated board")
        if not simulated and settings.evb_port is None:
            raise SettingError(f"{board_id}: {HOW_TO_ATTACH}")


def link_arguments(text: str | None) -> list[str]:
    """Arguments of the simulated board for ``bytes_per_s=N,latency_ms=N``. Raises SettingError."""
    arguments: list[str] = []
    for part in text.split(",") if text else ():
        key, _, value = part.partition("=")
        if key not in ("bytes_per_s", "latency_ms"):
            raise SettingError(f"--evb-sim-link {text!r}: use bytes_per_s=N,latency_ms=N")
        try:
            number = positive_float(value)
        except ValueError as error:
            raise SettingError(f"--evb-sim-link {text!r}: {error}") from None
        arguments += [f"--link-{key.replace('_', '-')}", str(number)]
    return arguments
