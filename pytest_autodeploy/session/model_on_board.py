"""A model on a board: the board proves that it runs it, sets it up, and runs inferences."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardRefused
from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.board.base import Board, Placed, timed
from pytest_autodeploy.catalog.kinds import Kind, answering_kind
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.profile.passes import CounterChoice
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.rpc.messages import Capability, ClockMode, Identity, ModelState, Status
from pytest_autodeploy.session.collected import Measured
from pytest_autodeploy.session.refusals import explained
from pytest_autodeploy.session.samples import bytes_of_one, sample_of, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    import numpy as np

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.labels import Labels

    StateMode = Literal["carry", "reset"]

PATIENCE = 20
"""How many times longer than ever before inferences may take before a board counts as silent."""

LEAST_PATIENCE_S = 5.0
"""What a loaded PC or a slow port may cost."""

CALL_SECONDS = 0.5
"""About how long one invoke call may take: short enough to show progress and keep its deadline."""


class ModelOnBoard:
    """What every measurement of ``model`` on ``board`` rests on.

    ``before_run`` is called with the inputs of a run before the board gets them.
    """

    def __init__(
        self,
        model: Model,
        board: Board,
        *,
        inputs: Inputs,
        progress: Progress = lambda _what, _done, _total: None,
    ) -> None:
        self.model = model
        self.board = board
        self.measured = Measured()
        self.task = Task()
        self.progress = progress
        self.before_run: Callable[[Inputs], None] | None = None
        self._identity: Identity | None = None
        self._state: ModelState | None = None
        self._proven = False
        self._slowest_s = 0.0
        self.prepare(inputs)

    def prepare(
        self,
        inputs: Inputs,
        *,
        arena_bytes: int = 0,
        clock: Literal["HP", "LP"] = "HP",
        latency_runs: int = 10,
        state: StateMode = "carry",
        labels: Labels | None = None,
        counters: CounterChoice = CounterChoice(),  # noqa: B008  # it is frozen
    ) -> None:
        """Set the session's own inputs, arena (0: the largest), clock mode and timed inferences.

        ``state``: whether the state of the model is carried from inference to inference of a run,
        or reset before each. ``labels`` are those of the inputs, ``counters`` those of profiles.
        Raises ValueError for a ``state`` that does not exist.
        """
        if state not in ("carry", "reset"):
            raise ValueError(f"state={state!r} is not one of carry, reset")
        self.inputs = inputs
        self.labels = labels
        self.state_mode: StateMode = state
        self._clock = _clock_mode(clock)
        self._latency_runs = latency_runs
        self._counters = counters
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
        return "HP" if self._clock is ClockMode.HIGH_PERFORMANCE else "LP"

    @property
    def has_profile(self) -> bool:
        """Whether the board can profile layers."""
        return Capability.LAYER_PROFILE in self.identity.capabilities

    @property
    def kind(self) -> Kind:
        """The kind of this board."""
        return answering_kind(self.board.id, self.identity.kind.name.lower())

    @property
    def source(self) -> Source:
        """The source of this board's figures."""
        return self.kind.source

    @property
    def reset_each(self) -> bool:
        """Whether the model has state that is reset before each inference of a run."""
        return self.state_mode == "reset" and self.model.stateful

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
        identity = self.board.load(self._image)
        if identity.clock != self._clock:
            self.board.client.set_clock(self._clock)
            identity = self.board.client.identify()
        if Capability.ANY_TENSOR in identity.capabilities:
            self.board.client.keep_tensors(False)  # who was here before may have been killed
        self._identity = identity

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

    def begin(self) -> None:
        """Start a new test: nothing is measured yet, and the board has to prove itself again."""
        self.measured = Measured()
        self.before_run = None
        self._proven, self._state = False, None

    @contextmanager
    def at_clock(self, mode: Literal["HP", "LP"]) -> Iterator[None]:
        """Within it the board runs in another clock mode; the session's own comes back after it."""
        own, identity = self._clock, self.identity
        self._clock, self._proven = _clock_mode(mode), False
        try:
            self.ensure()
            yield
        finally:
            self._clock, self._identity, self._proven = own, identity, False

    def set_up(self) -> None:
        """Set the model up anew, as before its first inference."""
        with self.calls():
            self._setup()

    def empty_outputs(self, count: int) -> tuple[np.ndarray, ...]:
        """Room for the outputs of ``count`` inferences."""
        import numpy as np

        tensors = self.model.outputs
        return tuple(np.empty((count, *tensor.shape), tensor.dtype) for tensor in tensors)

    def infer(self, inputs: Inputs, number: int, outputs: tuple[np.ndarray, ...]) -> None:
        """Run sample ``number`` into its place in ``outputs``; the model has to be set up."""
        with self.calls():
            self._infer(inputs, number, outputs)

    @contextmanager
    def calls(self) -> Iterator[None]:
        """Guard calls of ``board.client``: a board that breaks in one is explained and given up."""
        try:
            yield
        except BoardRefused as error:
            self.measured.log.append(error.words)
            raise explained(error, self._image, self.board.spec) from None
        except BoardError as error:
            raised = self.board.explain(error)
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
        self.board.discard()

    def _setup(self) -> None:
        self.ensure()
        self._state = self.board.client.configure(self._image.arena_bytes)

    def _first_inference(self) -> int:
        self._setup()
        self._write(self.inputs, 0)
        return self._invoke(1)[0]

    def _infer(self, inputs: Inputs, number: int, outputs: tuple[np.ndarray, ...]) -> None:
        if self.reset_each:
            self.board.client.reset_state()
        inferred = self.board.client.infer(sample_of(inputs, number), bytes_of_one(outputs))
        store(inferred, number, outputs)
        self.progress("inference", number + 1, inputs.count)

    def _infer_all(self, inputs: Inputs) -> tuple[np.ndarray, ...]:
        """Without state the next inputs are sent during an inference, where the board has room."""
        outputs = self.empty_outputs(inputs.count)
        if self.reset_each:
            for number in range(inputs.count):
                self._infer(inputs, number, outputs)
            return outputs
        each = self.board.client.infer_each(
            (sample_of(inputs, number) for number in range(inputs.count)),
            bytes_of_one(outputs),
            overlap=not self.model.stateful,
        )
        for number, inferred in enumerate(each):
            store(inferred, number, outputs)
            self.progress("inference", number + 1, inputs.count)
        return outputs

    def _write(self, inputs: Inputs, number: int) -> None:
        for index, data in enumerate(sample_of(inputs, number)):
            self.board.client.write_input(index, data)

    def _invoke(self, count: int) -> list[int]:
        ticks: list[int] = []
        share = 1
        while len(ticks) < count:
            share = min(share, count - len(ticks), self.identity.max_invocations)
            began = time.monotonic()
            with timed(self.board):
                ticks += self.board.client.invoke(share, self._patience(share)).ticks
            per_inference = (time.monotonic() - began) / share
            self._slowest_s = max(self._slowest_s, per_inference)
            share = max(1, int(CALL_SECONDS / max(per_inference, 1e-6)))
            self.progress("inference", len(ticks), count)
        return ticks

    def _patience(self, count: int) -> float | None:
        """The deadline of a call: many times what it took before, None (the option's) at first."""
        if not self._slowest_s:
            return None
        usual = max(LEAST_PATIENCE_S, PATIENCE * count * self._slowest_s)
        return min(usual, self.board.client.timeout_s)

    def _us(self, ticks: int) -> float:
        return ticks * 1e6 / self.identity.tick_hz


def _clock_mode(name: Literal["HP", "LP"]) -> ClockMode:
    return ClockMode.HIGH_PERFORMANCE if name == "HP" else ClockMode.LOW_POWER
