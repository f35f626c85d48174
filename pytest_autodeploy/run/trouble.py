"""What is broken in a run: models that cannot be used, boards that are given up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.metrics.failures import class_of_error

FAULTS_BEFORE_BROKEN = 2
"""Faults in a row with which a board is given up for a model: one may be chance."""

MODELS_BEFORE_BROKEN = 2
"""Models in a row that a board broke with before it is given up for the run."""


@dataclass(frozen=True)
class Trouble:
    """What broke first, in which test, and whether it was the board or the model."""

    error: AutodeployError
    test: str
    of_board: bool

    @property
    def text(self) -> str:
        """One line for the tests that follow."""
        return f"{self.error.what} (see {self.test})"


class Troubles:
    """Remembers what broke; models and boards are named by their ids."""

    def __init__(self) -> None:
        self._faults: Counter[tuple[str, str]] = Counter()
        self._broken: dict[tuple[str, str], Trouble] = {}
        self._models: dict[str, list[str]] = {}
        self._boards: dict[str, Trouble] = {}

    def fault(
        self, model: str, board: str, error: AutodeployError, test: str, *, several: bool = False
    ) -> None:
        """Count a fault of a board, which is given up for the model at the second in a row.

        One that stands for ``several`` of a rig is not given up as a whole.
        """
        self._faults[model, board] += 1
        if self._faults[model, board] >= FAULTS_BEFORE_BROKEN:
            self._broken.setdefault((model, board), Trouble(error, test, of_board=True))
            if several:
                return
            models = self._models.setdefault(board, [])
            if model not in models:
                models.append(model)
            if len(models) >= MODELS_BEFORE_BROKEN:
                self._boards.setdefault(board, Trouble(error, test, of_board=True))

    def give_up(self, model: str, board: str, error: AutodeployError, test: str) -> None:
        """Give up a model on a board at once, for what ``test`` shows."""
        of_board = class_of_error(error) == "board broke"
        self._broken.setdefault((model, board), Trouble(error, test, of_board))

    def recovered(self, model: str, board: str) -> None:
        """A test of the model has passed on the board: earlier faults were chance."""
        self._faults[model, board] = 0
        self._models.pop(board, None)

    def of(self, model: str, board: str) -> Trouble | None:
        """Why a model's tests on a board cannot run, or None."""
        return self._broken.get((model, board)) or self._boards.get(board)
