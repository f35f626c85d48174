"""The second chance of a model whose board broke: once, and on a board that is fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.again import Revivable
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.board.use import BROKE

if TYPE_CHECKING:
    from pytest_autodeploy.board.again import Again
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.settings.settings import Settings

Key = tuple[str, str]
"""Ids of model and board."""

_MAY_BE_BROKEN = (*BROKE, BoardUnavailable)
"""Not a board that runs another model, nor one that refuses a call: that is no accident."""


class Chances:
    """Which models may be tried once more in this run."""

    def __init__(self, settings: Settings) -> None:
        self._mode = settings.evb_second_chance
        self._has_rig = getattr(settings, "evb_rig", None) is not None
        self._had: set[Key] = set()

    @property
    def wanted(self) -> bool:
        """Whether any model may have one."""
        return self._mode == "on" or (self._mode == "auto" and self._has_rig)

    def due(self, key: Key, board: Board | None, error: BaseException) -> Again | None:
        """How a model that broke its board may be tried once more, None for not at all.

        What a run starts by itself is started anew only where that was asked for: it has no cable,
        and what ends it is the model.
        """
        if not self.wanted or key in self._had or not isinstance(error, _MAY_BE_BROKEN):
            return None
        how = board.again() if isinstance(board, Revivable) else None
        return None if how == "fresh start" and self._mode != "on" else how

    def take(self, key: Key, board: Board) -> Again | None:
        """Give a model its only one, and say how. Raises BoardUnavailable."""
        assert isinstance(board, Revivable)
        self._had.add(key)
        how = board.again()
        if how != "second board":
            use_of(board).retries += 1
        board.try_again()
        return how
