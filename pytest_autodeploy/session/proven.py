"""A board that proves that it runs a model, and sets it up; one that breaks is given up."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardRefused
from pytest_autodeploy.base.measurement import UNPROVEN, Source
from pytest_autodeploy.board.base import Board, Controllable, Placed, load, timed, use_of
from pytest_autodeploy.catalog.kinds import Kind, answering_kind
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.rpc.messages import (
    BoardReport,
    Capability,
    ClockMode,
    Identity,
    ModelState,
    Status,
)
from pytest_autodeploy.session.clock import doubt_of_start, mode_name
from pytest_autodeploy.session.collected import Measured
from pytest_autodeploy.session.recording import SessionRecording
from pytest_autodeploy.session.refusals import explained

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.model.graph import Model


class ProvenBoard:
    """A board that has to show, once per test, that it runs ``model`` in the wanted clock mode."""

    def __init__(self, model: Model, board: Board) -> None:
        self.model = model
        self.board = board
        self.measured = Measured()
        self._image = Image(model, 0)
        self._clock = ClockMode.HIGH_PERFORMANCE
        self._identity: Identity | None = None
        self._report: BoardReport | None = None
        self._doubts: dict[ClockMode, str] = {}
        self._state: ModelState | None = None
        self._proven = False
        self.recording = SessionRecording(model, board)

    def _want(self, arena_bytes: int, clock: Literal["HP", "LP"]) -> None:
        """Set the session's own arena (0: the largest) and clock mode: to be proven again."""
        self._clock = _clock_mode(clock)
        self._image = Image(self.model, arena_bytes)
        self._proven, self._state = False, None

    @property
    def identity(self) -> Identity:
        """What the board says of itself."""
        if self._identity is None:
            self.ensure()
        assert self._identity is not None
        return self._identity

    @property
    def report(self) -> BoardReport:
        """Where things are on the board, and how it has started."""
        if self._report is None:
            self.ensure()
        assert self._report is not None
        return self._report

    @property
    def clock_doubt(self) -> str:
        """Why times in the present clock mode are not what they seem, empty while none is known."""
        return self._doubts.get(self._clock, "")

    @property
    def state(self) -> ModelState:
        """What the engine says of the model, such as its arena."""
        if self._state is None:
            self.ensure()
        assert self._state is not None
        return self._state

    @property
    def known(self) -> bool:
        """Whether the board has said what it is and how the model fits."""
        return self._identity is not None and self._state is not None

    @property
    def clock(self) -> Literal["HP", "LP"]:
        """The session's own clock mode."""
        return mode_name(self._clock)

    @property
    def has_profile(self) -> bool:
        """Whether the board can profile layers."""
        return Capability.LAYER_PROFILE in self.identity.capabilities

    @property
    def kind(self) -> Kind:
        """The kind of this board."""
        return answering_kind(self.board.id, self.identity.kind.name.lower())

    @property
    def unproven(self) -> bool:
        """Whether the board's firmware does not say which model it runs.

        One that says another model than the session's is refused.
        """
        return not self.identity.model_sha256

    @property
    def source(self) -> Source:
        """The source of this board's figures."""
        return UNPROVEN if self.unproven else self.kind.source

    def ensure(self) -> None:
        """Make sure, once per test, that the board runs this model, and set it up."""
        if self._proven:
            return
        with self.calls():
            self._load()
            if self._state is None:
                self._state = self._configure()
        self._proven = True

    def _load(self) -> None:
        identity = load(self.board, self._image)
        use_of(self.board).calls(self.board.client)
        self.recording.loaded(self._image, identity)
        if identity.clock != self._clock:
            self._set_clock(identity)
            identity = self.board.client.identify()
        if Capability.ANY_TENSOR in identity.capabilities:
            self.board.client.keep_tensors(False)  # who was here before may have been killed
        with timed(self.board):  # it holds its clocks against one another
            self._report = self.board.client.describe_board()
        if doubt := doubt_of_start(identity, self._report, self._clock):
            self._doubts[self._clock] = doubt
        self._identity = identity

    def _set_clock(self, identity: Identity) -> None:
        """A mode that the board has and the chip refuses is told with the times, not before."""
        try:
            self.board.client.set_clock(self._clock)
        except BoardRefused:
            if not identity.clocks_hz[self._clock]:
                raise

    def _configure(self) -> ModelState:
        """Set the model up, in the largest memory when the one that was likely to do is not."""
        try:
            return self.board.client.configure(self._image.arena_bytes)
        except BoardRefused as error:
            if not self._may_have_more_room(error):
                raise
        self._image = replace(self._image, roomy=True)
        self._load()
        return self.board.client.configure(0)

    def _may_have_more_room(self, error: BoardRefused) -> bool:
        chosen = self._image.arena_bytes or self._image.roomy
        if chosen or error.status != Status.NO_MEMORY.name or not isinstance(self.board, Placed):
            return False
        roomy = replace(self._image, roomy=True)
        return self.board.placement(roomy) != self.board.placement(self._image)

    @property
    def placement(self) -> Placement | None:
        """Where the board has the model and its arena, None when that is not known."""
        return self.board.placement(self._image) if isinstance(self.board, Placed) else None

    @contextmanager
    def at_clock(self, mode: Literal["HP", "LP"]) -> Iterator[None]:
        """Within it the board runs in another clock mode; the session's own comes back after it."""
        own, identity, report = self._clock, self.identity, self._report
        self._clock, self._proven = _clock_mode(mode), False
        try:
            self.ensure()
            yield
        finally:
            self._clock, self._proven = own, False
            self._identity, self._report = identity, report

    def restart(self) -> None:
        """Start the board anew, as a user's would be, and let it prove itself again.

        Raises a BoardError when it does not come back.
        """
        self.ensure()
        with self.calls():
            self.board.client.reboot()
        self._proven, self._state = False, None
        if not isinstance(self.board, Controllable):
            self.board.discard()  # a port of USB is gone after it
        self.ensure()

    def set_up(self) -> None:
        """Set the model up anew, as before its first inference."""
        with self.calls():
            self._setup()

    @contextmanager
    def calls(self) -> Iterator[None]:
        """Guard calls of ``board.client``: a board that breaks in one is explained and given up."""
        try:
            yield
        except BoardRefused as error:
            self.measured.log.append(error.text)
            raise explained(error, self._image, self.board.spec) from None
        except BoardError as error:
            raised = self.board.explain(error)
            use_of(self.board).broke(error, raised)
            self._give_up()
            raise raised from None
        except (KeyboardInterrupt, Exception):
            raise
        except BaseException:
            # pytest-timeout and pytest.fail raise in the middle of a call: whatever the board does
            # now is an answer to nobody, so that the next test needs a fresh start.
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Trust the board no more until it has proven itself again."""
        self._state = None
        self._proven = False
        self._doubts.clear()
        self.board.discard()

    def _setup(self) -> None:
        self.ensure()
        self._state = self.board.client.configure(self._image.arena_bytes)


def _clock_mode(name: Literal["HP", "LP"]) -> ClockMode:
    return ClockMode.HIGH_PERFORMANCE if name == "HP" else ClockMode.LOW_POWER
