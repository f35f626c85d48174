"""The sessions of a run: models on boards, set up as the settings and a test's file say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.catalog.kinds import kind_of
from pytest_autodeploy.run.arenas import Arenas
from pytest_autodeploy.settings.overrides import SESSION, SESSION_OPTIONS, checked, naming

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.run.data import RunData
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


class Sessions:
    """Makes sessions with the data of the run, and prepares them for each test.

    ``begin`` is called with each session before its first use.
    """

    def __init__(
        self,
        settings: Settings,
        data: RunData,
        progress: Progress,
        begin: Callable[[ModelSession], None] = lambda _session: None,
    ) -> None:
        self._settings = settings
        self._arenas = Arenas(settings)
        self._begin = begin
        self._data = data
        self._progress = progress

    def open(self, model: Model, board: Board) -> ModelSession:
        """The session of a model on a board; nothing is flashed yet."""
        from pytest_autodeploy.session.model_session import ModelSession

        inputs = self._data.board_inputs(model, board)
        session = ModelSession(model, board, inputs=inputs, progress=self._progress)
        session.known_arenas = self._arenas.known
        self._begin(session)
        return session

    def prepare(
        self, session: ModelSession, inputs: Any, options: Mapping[str, Any], labels: Any = None
    ) -> None:
        """Set what a test's file may override; ``inputs`` and ``labels`` None are the run's own.

        Raises InputsError and OverrideError, which name the fixture.
        """
        from pytest_autodeploy.profile.passes import CounterChoice
        from pytest_autodeploy.reference.inputs import as_inputs
        from pytest_autodeploy.reference.labels import as_labels

        settings = self._settings
        defaults: dict[str, Any] = {
            "arena_bytes": 1024 * settings.evb_arena_kb,
            "clock": settings.evb_clock,
            "latency_runs": self._latency_runs(session.board),
            "state": settings.state,
        }
        chosen_options = defaults | checked(SESSION, options, SESSION_OPTIONS)
        own = self._data.board_inputs(session.model, session.board)
        with naming("model_inputs"):
            chosen = own if inputs is None else as_inputs(inputs, session.model, settings.seed)
        with naming("model_labels"):
            labelled = self._data.labels() if labels is None else as_labels(labels)
        counters = CounterChoice(settings.evb_counters, settings.evb_dwt_counters == "modulo")
        session.prepare(
            chosen,
            labels=labelled,
            counters=counters,
            profiled=settings.profiled if "profile" in settings.sources else (),
            **chosen_options,
        )

    def _latency_runs(self, board: Board) -> int:
        """Timed inferences; one is enough where times are always the same."""
        exact = kind_of(board.id).exact and "latency_runs" not in self._settings.sources
        return 1 if exact else self._settings.latency_runs
