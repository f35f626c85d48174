"""The built-in tests of a board without RPC: what they measure, for their records and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.state import OVER_PINS, runtime_of, settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.run.over_pins import PinsSession
    from pytest_autodeploy.session.over_pins import PinsRun

_SESSIONS: pytest.StashKey[dict[tuple[str, str], PinsSession]] = pytest.StashKey()


class PinsTest:
    """Measures energy over pins in a test; what an earlier test has measured is not again."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def measure(self, model: Model, board: Board, *, every_mode: bool) -> None:
        """Measure the clock modes of the settings, or that of the run alone.

        Raises PowerError, a BoardError of the probe, CharacterizationError, or what a build raises.
        """
        from pytest_autodeploy.run.over_pins import PinsSession

        config = self._item.config
        sessions = config.stash.setdefault(_SESSIONS, {})
        key = (model.sha256, board.id)
        if key not in sessions:
            sessions[key] = PinsSession(model, board, runtime_of(config))
        session = sessions[key]
        self._item.stash[OVER_PINS] = session.run
        session.measure(settings_of(config).energy_modes if every_mode else (session.run.clock,))


def pins_run_of(item: pytest.Item) -> PinsRun | None:
    """What a test has measured over pins, if it did."""
    return item.stash.get(OVER_PINS, None)
