"""The board that is commissioned, with the models of this package on it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.run.commission.own_models import CNN, OwnModels
from pytest_autodeploy.run.runtime import Runtime

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.session.energy import Energy
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


@dataclass(frozen=True)
class Effort:
    """How much of everything: bytes each way, small calls, seconds of work, latencies, resets."""

    link_bytes: int = 1 << 20
    calls: int = 1000
    seconds: float = 10.0
    latencies: int = 1000
    resets: int = 10
    window_s: float = 0.5


class Rig(Closing):
    """Opens the board of ``settings``, with one model after the other; ``close`` releases it.

    ``options`` are those of the fixture ``evb_options``. What one check has found and another one
    needs is kept here: the speed of the echo, readings of the ticks, whether the meter is wired,
    energies by the seconds of their windows, and outputs by the names of models.
    """

    def __init__(
        self,
        settings: Settings,
        effort: Effort,
        progress: Progress,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.settings = settings
        self.effort = effort
        self._progress = progress
        self._options = options or {}
        self.echo_bytes_per_s: float | None = None
        self.ticks: list[int] = []
        self.wired = False
        self.energies: dict[float, Energy] = {}
        self.outputs: dict[str, tuple[Any, ...]] = {}
        self._models = OwnModels(settings.seed)
        self._memory: str | None = None
        self._runtime: Runtime | None = None
        self._session: ModelSession | None = None

    @property
    def board_id(self) -> str:
        """The board as the user typed it."""
        return self.settings.evb[0]

    @property
    def opened(self) -> ModelSession | None:
        """The latest session, None before there is one."""
        return self._session

    def session(self, name: str = CNN, arena_memory: str | None = None) -> ModelSession:
        """The session of a model of this package; its arena is in a memory, or where it fits.

        Raises AutodeployError.
        """
        if self._runtime is None or self._memory != arena_memory:
            self._begin(arena_memory)
        assert self._runtime is not None
        if self._session is None or self._session.model is not self._models.model(name):
            board = self._runtime.boards.board(self.board_id, self._options)
            model = self._models.model(name)
            session = self._runtime.sessions.open(model, board)
            session.prepare(self._models.inputs(name))
            board.start()
            self._session = session
        return self._session

    @property
    def meter(self) -> Meter | None:
        """The power meter of the board."""
        session = self.session()
        assert self._runtime is not None
        return self._runtime.boards.meters.meter_of(session.board)

    def expected(self, name: str) -> tuple[Any, ...]:
        """What TFLM on this PC makes of the inputs of a model. Raises MissingExtra."""
        return self._models.expected(name)

    def give_up(self) -> None:
        """After an error the next check begins with a board that proves itself anew."""
        if self._session is not None:
            with suppress(AutodeployError):
                self._session.board.discard()
            self._session.begin()

    def close(self) -> None:
        """Release the board, its meter, and the files of its recordings."""
        if self._runtime is not None:
            self._runtime.close()
        self._runtime = self._session = None

    def _begin(self, arena_memory: str | None) -> None:
        """A board whose images have their arenas in another memory is another one to make."""
        self.close()
        self._memory = arena_memory
        chosen = self.settings.evb_arena_memory if arena_memory is None else arena_memory
        record = self.settings.evb_record if arena_memory is None else None
        settings = replace(self.settings, evb_arena_memory=chosen, evb_record=record)
        self._runtime = Runtime(settings, self._progress)
