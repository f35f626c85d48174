"""What a session has recorded of its board, and what it takes from a board that is a recording."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_autodeploy.board.base import Replayed
from pytest_autodeploy.board.recorded.notes import ArenaGuess, Doubt
from pytest_autodeploy.catalog.kinds import answering_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.board.recorded.notes import Note
    from pytest_autodeploy.board.recorded.recorder import Recorder
    from pytest_autodeploy.board.recorded.recordings import Recordings
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.rpc.messages import Identity


class SessionRecording:
    """Records ``model`` on ``board`` into ``to``, the recordings of the run, when there are any."""

    def __init__(self, model: Model, board: Board) -> None:
        self.to: Recordings | None = None
        self._model = model
        self._board = board
        self._recorder: Recorder | None = None

    @property
    def replayed(self) -> Replayed | None:
        """The board, when it is a recording itself."""
        return self._board if isinstance(self._board, Replayed) else None

    def loaded(self, image: Image, identity: Identity) -> None:
        """The board runs an image: what it answers from now on is recorded."""
        if self.to is None:
            return
        kind = answering_kind(self._board.id, identity.kind.name.lower())
        self._recorder = self.to.of(self._model, self._board, kind)
        self._recorder.loaded(self._board, image, identity)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Calls within it are recorded but answer nobody: what they lead to is kept as a note."""
        if self._recorder is None:
            yield
            return
        with self._recorder.aside():
            yield

    def keep(self, note: Note) -> None:
        """Record what is known besides calls."""
        if self._recorder is not None:
            self._recorder.note(note)

    def doubt(self, clock: int) -> str | None:
        """What was found of a clock mode at the recording; None of a board that can be asked."""
        return self.replayed.doubt(clock) if self.replayed else None

    def keep_doubt(self, clock: int, text: str) -> None:
        """Record why times of a clock mode are not what they seem; nothing for no doubt."""
        if text:
            self.keep(Doubt(clock, text))

    def arena_guess(self, used_bytes: int) -> int | None:
        """Where the search for the smallest arena began; None of a board that can be asked."""
        if self.replayed is None:
            return None
        recorded = self.replayed.arena_guess()
        return used_bytes if recorded is None else recorded

    def keep_guess(self, guess: int) -> int:
        """Record where the search for the smallest arena begins, and give it back."""
        self.keep(ArenaGuess(guess))
        return guess
