"""The recorded board: it answers what a board answered in an earlier run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.identity import check_identity
from pytest_autodeploy.board.recorded.answers import Answers, NotRecorded, read_answers
from pytest_autodeploy.board.recorded.link import RecordedLink
from pytest_autodeploy.board.recorded.player import Player
from pytest_autodeploy.board.silence import NOT_YET
from pytest_autodeploy.rpc.client import ValidatorClient

if TYPE_CHECKING:
    from pytest_autodeploy.base.errors import BoardError
    from pytest_autodeploy.board.recorded.notes import Metered
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity


class RecordedBoard:
    """A board whose answers are those in the file ``path``; nothing is measured."""

    def __init__(self, board_id: str, spec: BoardSpec, path: Path) -> None:
        self.id = board_id
        self.spec = spec
        self.port: str | None = None
        self.serial: str | None = None
        self.image_sha256: str | None = None
        self._path = path
        self._answers: Answers | None = None
        self._player: Player | None = None
        self._client: ValidatorClient | None = None
        self._guesses = 0
        self._metered: Counter[str] = Counter()

    @property
    def client(self) -> ValidatorClient:
        if self._client is None:
            raise BoardUnavailable("not started", board=self.id, hint=NOT_YET)
        return self._client

    def start(self) -> None:
        """There is nothing to power up."""

    def placement(self, image: Image) -> Placement | None:
        """Where an image had its model and its arena, None when that is not known."""
        return self._open().placements.get((image.arena_bytes, image.roomy))

    def load(self, image: Image) -> Identity:
        self._check_model(image)
        player = self._play(image.model.stateful)
        player.loaded(image.arena_bytes, image.roomy)
        if self._client is None:
            self._client = ValidatorClient(RecordedLink(player, board=self.id))
        identity = self._client.identify()
        check_identity(identity, image, self.id)
        return identity

    def doubt(self, mode: int) -> str:
        """Why times of a clock mode were not what they seemed, as it was found then."""
        return self._open().doubts.get(mode, "")

    def arena_guess(self) -> int | None:
        """Where the next search for the smallest arena began; None when none did."""
        guesses = self._open().guesses
        if not guesses:
            return None
        guess = guesses[min(self._guesses, len(guesses) - 1)]
        self._guesses += 1
        return guess

    def metered(self, mode: str, inferences: int | None, *, more: bool = False) -> Metered:
        """What the meter saw of a clock mode, in the order of the recording.

        It goes round, but not to find ``more`` than was measured. Raises NotRecorded.
        """
        found = [
            each
            for each in self._open().metered
            if each.mode == mode and inferences in (None, each.inferences)
        ]
        if not found or (more and self._metered[mode] >= len(found)):
            raise NotRecorded(
                f"no {'more ' if found else ''}measurement of energy at {mode} was recorded",
                board=self.id,
                hint="record it anew with a power meter: --autodeploy-power METER --evb-record DIR",
            )
        self._metered[mode] += 1
        return found[(self._metered[mode] - 1) % len(found)]

    def explain(self, error: BoardError) -> BoardError:
        return error

    def discard(self) -> None:
        """The next ``load`` opens the recording anew; what it has given stays given."""
        self._client = None

    def close(self) -> None:
        self._client = None

    def _open(self) -> Answers:
        if self._answers is None:
            self._answers = read_answers(self._path)
            head = self._answers.head
            self.serial = head.serial or None
            self.image_sha256 = head.image_sha256 or None
        return self._answers

    def _play(self, stateful: bool) -> Player:
        if self._player is None:
            self._player = Player(self._open(), self.id, stateful=stateful)
        return self._player

    def _check_model(self, image: Image) -> None:
        head = self._open().head
        if head.model_sha256 != image.model.sha256:
            raise NotRecorded(
                f"it is a recording of {head.model} ({head.model_sha256[:12]}…), not of "
                f"{image.model.name} ({image.model.sha256[:12]}…)",
                board=self.id,
                hint="give the recording of this model, or that model; there is one file for each",
            )
