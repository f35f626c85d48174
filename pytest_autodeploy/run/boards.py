"""The boards of a run, the meters that measure them, and the firmware built for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.board.again import OfRig
from pytest_autodeploy.board.base import Shared, use_taken
from pytest_autodeploy.board.use import added_up
from pytest_autodeploy.run.second_chance import Chances

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.power.choose import Meters
    from pytest_autodeploy.settings.settings import Settings


class Boards:
    """Makes each board once; ``close`` releases meters, boards, ports, locks and processes.

    All processes of a run share ``run_folder``.
    """

    def __init__(self, settings: Settings, run_folder: Path | None = None) -> None:
        self._settings = settings
        self.chances = Chances(settings, run_folder)
        self._boards: dict[tuple[str, str], Board] = {}
        self._meters: Meters | None = None
        self._folder: Scratch | None = None

    def board(self, board_id: str, options: Mapping[str, Any] | None = None) -> Board:
        """The board of that id, not started; ``options`` are those of the fixture ``evb_options``.

        Raises SettingError, OverrideError.
        """
        from pytest_autodeploy.board.select import board_options, make_board

        chosen = board_options(board_id, {} if options is None else options)
        key = (board_id, repr(chosen))
        if key not in self._boards:
            made = make_board(board_id, self._settings, self.build_cache(), chosen)
            self.chances.know(made)
            self._boards[key] = made
        return self._boards[key]

    def made(self, board_id: str) -> Board | None:
        """The board of that id that was made last, None before one was."""
        boards = [board for (made, _), board in self._boards.items() if made == board_id]
        return boards[-1] if boards else None

    def give_up(self, board_id: str) -> None:
        """Let other runs have the board of that id, until it is used again."""
        for (known, _), board in self._boards.items():
            if known == board_id and isinstance(board, Shared):
                board.give_up()

    def uses(self) -> tuple[BoardUse, ...]:
        """What boards went through since this was asked last."""
        return added_up(use for board in self._boards.values() for use in _taken(board))

    def build_cache(self) -> Path | None:
        """The folder of built firmware: the user's (None), a given one, or one for this run."""
        if self._settings.cache is None:
            return None
        if self._settings.cache == "off" and self._folder is None:
            self._folder = Scratch("build")
        if self._folder is not None:
            return self._folder.path
        return self._settings.root / self._settings.cache

    @property
    def meters(self) -> Meters:
        """The power meters of the run."""
        from pytest_autodeploy.power.choose import Meters

        if self._meters is None:
            self._meters = Meters(self._settings)
        return self._meters

    def close(self) -> None:
        """Release meters, boards, and the folder of this run's firmware."""
        if self._meters is not None:
            self._meters.close()
        for board in self._boards.values():
            board.close()
        self.chances.close()
        if self._folder is not None:
            self._folder.close()


def _taken(board: Board) -> Iterable[BoardUse]:
    if isinstance(board, OfRig):
        return board.uses_taken()
    use = use_taken(board)
    return [use] if use else []
