"""Cutting the power of a board of a rig, by the command of its rig file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.process import run_tool
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.base.text import one_line

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.rig import RigBoard

CUT_S = 60.0
"""A relay or a hub is off for some seconds."""

_WORDS = 200


def cut_power(board: RigBoard, board_id: str) -> None:
    """Take the power of a board away and give it back. Raises BoardUnavailable."""
    tool = board.power_cycle[0]
    try:
        with show_task(f"cutting the power of {board.name}"):
            done = run_tool(board.power_cycle, timeout_s=CUT_S)
    except OSError as error:
        raise _failed(board, board_id, f"{tool}: {error.strerror or error}") from None
    if done.code != 0:
        said = one_line(done.output.strip()[-_WORDS:], _WORDS)
        raise _failed(board, board_id, f"{tool} {done.how}{': ' if said else ''}{said}")


def _failed(board: RigBoard, board_id: str, why: str) -> BoardUnavailable:
    return BoardUnavailable(
        f"cannot cut the power of {board.name}: {why}",
        board=board_id,
        hint="run the command of its `power` in the rig file by hand to see why",
    )
