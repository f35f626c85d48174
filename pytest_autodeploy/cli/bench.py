"""A model on a board beside the PC's side of it, opened without pytest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_autodeploy.run.preflight import check_settings
from pytest_autodeploy.run.runtime import Runtime

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


@dataclass(frozen=True)
class Bench:
    """A model and a board; the board is powered when ``session`` is used first."""

    model: Model
    board: Board
    runtime: Runtime

    @cached_property
    def session(self) -> ModelSession:
        """The session of the model on the board, set up as the settings say."""
        session = self.runtime.sessions.open(self.model, self.board)
        self.runtime.sessions.prepare(session, None, {})
        self.board.start()
        return session


@contextmanager
def open_bench(settings: Settings, progress: Progress) -> Iterator[Bench]:
    """A bench for the first model and the first board of the settings.

    Boards, ports, locks and processes are released at the end. Raises SettingError and ModelError
    before any board is touched.
    """
    check_settings(settings, write=False)
    runtime = Runtime(settings, progress)
    try:
        model = runtime.models.first_runnable(settings.evb[0])
        yield Bench(model, runtime.boards.board(settings.evb[0]), runtime)
    finally:
        runtime.close()
