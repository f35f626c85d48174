"""The boards of a rig that broke in a run: with how many models in a row, and which are out.

All processes of a run share it, by files in a folder of the run. A board that is out stays so to
the end of the run, and in the quarantine file until somebody lifts it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.file_lock import locked_file
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.run.trouble import MODELS_BEFORE_BROKEN

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.rig_state import TakenOut

_LOCK_S = 10.0
_REASON = 200


class Strikes:
    """The strikes of a run in ``folder``; ``quarantine`` has the boards that are out for longer."""

    def __init__(self, folder: Path, quarantine: RigState | None = None) -> None:
        self.out_of_run = RigState(folder / "out.json")
        self._quarantine = quarantine
        self._path = folder / "strikes.json"

    def broke(self, board: str, model: str, why: str) -> None:
        """A board of the rig broke with a model: at the second one in a row it is out.

        Raises RigStateError.
        """
        with locked_file(self._path.with_suffix(".lock"), _LOCK_S):
            strikes = self._read()
            models = strikes.setdefault(board, [])
            if model in models:
                return
            models.append(model)
            self._write(strikes)
        if len(models) >= MODELS_BEFORE_BROKEN:
            reason = f"broke with {' and '.join(models)}: {one_line(why, _REASON)}"
            for state in filter(None, (self.out_of_run, self._quarantine)):
                state.take_out(board, why="quarantine", reason=reason)

    def passed(self, board: str, model: str) -> None:
        """A test of a model has passed on a board: unless it broke it, that ends the row."""
        if not self._path.exists() or not self._of_others(board, model):
            return
        with locked_file(self._path.with_suffix(".lock"), _LOCK_S):
            strikes = self._read()
            strikes.pop(board, None)
            self._write(strikes)

    def out(self) -> dict[str, TakenOut]:
        """The boards that this run has taken out, by name. Raises RigStateError."""
        return self.out_of_run.read()

    def _of_others(self, board: str, model: str) -> Sequence[str]:
        models = self._read().get(board, [])
        return [] if model in models else models

    def _read(self) -> dict[str, list[str]]:
        if not self._path.exists():
            return {}
        strikes: dict[str, list[str]] = json.loads(self._path.read_text(encoding="utf-8"))
        return strikes

    def _write(self, strikes: dict[str, list[str]]) -> None:
        write_bytes(self._path, json.dumps(strikes).encode())
