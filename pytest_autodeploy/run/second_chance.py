"""The second chance of a model whose board broke: once, and on a board that is fit."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError, BoardUnavailable
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.board.again import OfRig, Revivable
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.board.use import BROKE
from pytest_autodeploy.run.strikes import Strikes

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.again import Again
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.settings.settings import Settings

Key = tuple[str, str]
"""Ids of model and board."""


class Chances:
    """Which models may be tried once more in this run, and which boards of its rig are out.

    All processes of a run share ``folder``; a run without one has its own.
    """

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self._settings = settings
        self._mode = settings.evb_second_chance
        self._had: set[Key] = set()
        self._broken: defaultdict[str, set[str]] = defaultdict(set)
        self._folder = folder
        self._scratch: Scratch | None = None
        self._strikes: Strikes | None = None

    @property
    def wanted(self) -> bool:
        """Whether any model may have one."""
        return self._mode == "on" or (self._mode == "auto" and self._settings.rig is not None)

    def know(self, board: Board) -> None:
        """Lease no board for it that is out of this run, or in quarantine."""
        if isinstance(board, OfRig):
            quarantine = self._settings.quarantine
            if self._folder is None:
                self._scratch = Scratch("run")
                self._folder = self._scratch.path
            self._strikes = Strikes(self._folder, quarantine)
            board.leave_out(*filter(None, (self._strikes.out_of_run, quarantine)))

    def choose(self, key: Key, board: Board | None) -> None:
        """Before a test: no board that broke with its model, and none that is out by now."""
        if isinstance(board, OfRig) and self._strikes is not None:
            board.choose({*self._broken[key[0]], *self._strikes.out()})

    def broke(self, key: Key, board: Board | None, error: AutodeployError) -> None:
        """Count against the board of the rig that it broke with a model."""
        if self._strikes is not None and isinstance(board, OfRig) and _blames(board, error):
            self._strikes.broke(board.in_use() or "", key[0], error.what)

    def passed(self, key: Key, board: Board | None) -> None:
        """A test of a model has passed on the board."""
        if self._strikes is not None and isinstance(board, OfRig) and (name := board.in_use()):
            self._strikes.passed(name, key[0])

    def due(self, key: Key, board: Board | None, error: AutodeployError) -> Again | None:
        """How a model that broke its board may be tried once more, None for not at all.

        What a run starts by itself is started anew only where that was asked for: it has no cable,
        and what ends it is the model.
        """
        if not self.wanted or key in self._had or not _blames(board, error):
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
        elif isinstance(board, OfRig):
            self._broken[key[0]].add(board.in_use() or "")
        board.try_again()
        return how

    def close(self) -> None:
        """Remove the folder of this run, when it is its own."""
        if self._scratch is not None:
            self._scratch.close()


def _blames(board: Board | None, error: AutodeployError) -> bool:
    """Whether it was the board.

    That is not one that runs another model or refuses a call: that is no accident. A port that
    cannot be opened is the board's where a rig has leased it; else others may have it.
    """
    leased = isinstance(board, OfRig) and board.in_use() is not None
    return isinstance(error, BROKE) or (leased and isinstance(error, BoardUnavailable))
