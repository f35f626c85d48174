"""A model on a board that runs inferences: what every measurement rests on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pytest_autodeploy.board.base import Board, timed, use_of
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.profile.passes import CounterChoice
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.session.clock import doubt_of_rate, tick_rate
from pytest_autodeploy.session.collected import Measured
from pytest_autodeploy.session.known_arenas import KnownArenas
from pytest_autodeploy.session.proven import ProvenBoard
from pytest_autodeploy.session.samples import bytes_of_one, sample_of, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    import numpy as np

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.labels import Labels

    StateMode = Literal["carry", "reset"]

TIMES_AS_LONG = 20
"""How many times longer than ever before inferences may take before a board counts as silent."""

LEAST_TIMEOUT_S = 5.0
"""What a loaded PC or a slow port may cost."""

CALL_SECONDS = 0.5
"""About how long one invoke call may take: short enough to show progress and keep its deadline."""


class ModelOnBoard(ProvenBoard):
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
        super().__init__(model, board)
        self.task = Task()
        self.known_arenas = KnownArenas()
        self.progress = progress
        self.before_run: Callable[[Inputs], None] | None = None
        self._slowest_s = 0.0
        self._share = 1
        self.prepare(inputs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model.name} on {self.board.id})"

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
        profiled: tuple[Literal["first", "warm"], ...] = (),
    ) -> None:
        """Set the session's own inputs, arena (0: the largest), clock mode and timed inferences.

        ``state``: whether the state of the model is carried from inference to inference of a run,
        or reset before each. ``labels`` are those of the inputs, ``counters`` those of profiles,
        and ``profiled`` says of which inferences they are: empty for a warm one, and for the first
        where firmware profiles no other.
        Raises ValueError for a ``state`` that does not exist.
        """
        if state not in ("carry", "reset"):
            raise ValueError(f"state={state!r} is not one of carry, reset")
        self.inputs = inputs
        self.labels = labels
        self.state_mode: StateMode = state
        self._latency_runs = latency_runs
        self._counters = counters
        self._profiled = profiled
        self._want(arena_bytes, clock)

    @property
    def reset_each(self) -> bool:
        """Whether the model has state that is reset before each inference of a run."""
        return self.state_mode == "reset" and self.model.stateful

    def begin(self) -> None:
        """Start a new test: nothing is measured yet, and the board has to prove itself again."""
        self.measured = Measured()
        self.before_run = None
        self._proven, self._state = False, None

    def empty_outputs(self, count: int) -> tuple[np.ndarray, ...]:
        """Room for the outputs of ``count`` inferences."""
        import numpy as np

        tensors = self.model.outputs
        return tuple(np.empty((count, *tensor.shape), tensor.dtype) for tensor in tensors)

    def infer(self, inputs: Inputs, number: int, outputs: tuple[np.ndarray, ...]) -> None:
        """Run sample ``number`` into its place in ``outputs``; the model has to be set up."""
        with self.calls():
            self._infer(inputs, number, outputs)

    def infer_from(
        self, inputs: Inputs, first: int, outputs: tuple[np.ndarray, ...]
    ) -> Iterator[int]:
        """Run the samples from ``first`` on into their places in ``outputs``.

        Gives the number of each that is done. The model has to be set up.
        """
        with self.calls():
            yield from self._infer_each(inputs, first, outputs)

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
        outputs = self.empty_outputs(inputs.count)
        for _ in self._infer_each(inputs, 0, outputs):
            pass
        return outputs

    def _infer_each(
        self, inputs: Inputs, first: int, outputs: tuple[np.ndarray, ...]
    ) -> Iterator[int]:
        """Without state the next inputs are sent during an inference, where the board has room."""
        numbers = range(first, inputs.count)
        if self.reset_each:
            for number in numbers:
                self._infer(inputs, number, outputs)
                yield number
            return
        each = self.board.client.infer_each(
            (sample_of(inputs, number) for number in numbers),
            bytes_of_one(outputs),
            overlap=not self.model.stateful,
        )
        for number, inferred in zip(numbers, each, strict=True):
            store(inferred, number, outputs)
            self.progress("inference", number + 1, inputs.count)
            yield number

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
                ticks += self.board.client.invoke(share, self._timeout_s(share)).ticks
            per_inference = (time.monotonic() - began) / share
            self._slowest_s = max(self._slowest_s, per_inference)
            share = max(1, int(CALL_SECONDS / max(per_inference, 1e-6)))
            self._share = min(share, self.identity.max_invocations)
            self.progress("inference", len(ticks), count)
        return ticks

    def _check_clock(self) -> None:
        """Hold the ticks of hardware against this PC's clock, once per mode."""
        if self.source != "measured" or self._clock in self._doubts:
            return
        doubt = self.recording.doubt(self._clock)
        if doubt is None:
            ask = self.board.client.describe_board
            with self.recording.aside():
                rate = tick_rate(self.identity, ask, lambda: self._invoke(self._share))
            doubt = "" if rate is None else doubt_of_rate(self.identity, rate)
            if rate is not None:
                use_of(self.board).clock_ppm = 1e6 * (rate / self.identity.tick_hz - 1)
            self.recording.keep_doubt(self._clock, doubt)
        self._doubts[self._clock] = doubt

    def _profile_once(self) -> None:
        with timed(self.board):
            self.board.client.profile()

    def _timeout_s(self, count: int) -> float | None:
        """The deadline of a call: many times what it took before, None (the option's) at first."""
        if not self._slowest_s:
            return None
        usual = max(LEAST_TIMEOUT_S, TIMES_AS_LONG * count * self._slowest_s)
        return min(usual, self.board.client.timeout_s)

    def _us(self, ticks: int) -> float:
        return ticks * 1e6 / self.identity.tick_hz
