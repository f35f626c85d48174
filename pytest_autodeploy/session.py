"""The session of one model on one board: typed calls that give measurements, nothing of bytes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.base import Board, Image, source_of
from pytest_autodeploy.errors import BoardError, BoardRefused
from pytest_autodeploy.measured import Latency, Measured, MemoryUse, RunResult, TunedArena
from pytest_autodeploy.measurement import Source
from pytest_autodeploy.profile.collect import collect_profile
from pytest_autodeploy.profile.records import LayerProfile
from pytest_autodeploy.reference.inputs import Inputs, as_inputs
from pytest_autodeploy.rpc.messages import (
    Capability,
    ClockMode,
    Identity,
    ModelState,
    PowerRun,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    import numpy as np

    from pytest_autodeploy.model.graph import Model

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many are done, and how many there are."""

CALL_SECONDS = 0.5
"""About how long one invoke call may take: short enough to show progress and keep its deadline."""


ARENA_STEP_BYTES = 256
"""How much larger the second try of an arena is; further ones double the step."""


class ModelSession:
    """The RPC session of ``model`` flashed on ``board``.

    Every method raises a BoardError that names the call, the board and the seconds when the board
    breaks, and BoardRefused with the board's words when it says no.
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
        self._progress = progress
        self._identity: Identity | None = None
        self._state: ModelState | None = None
        self._proven = False
        self.prepare(inputs)

    def prepare(
        self,
        inputs: Inputs,
        *,
        arena_bytes: int = 0,
        clock: Literal["HP", "LP"] = "HP",
        latency_runs: int = 10,
    ) -> None:
        """Set the session's own inputs, arena (0: the largest), clock mode and timed inferences."""
        self.inputs = inputs
        self._clock = _clock_mode(clock)
        self._latency_runs = latency_runs
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
    def source(self) -> Source:
        """The source of this board's figures."""
        return source_of(self.identity.kind)

    def ensure(self) -> None:
        """Make sure, once per test, that the board runs this model, and set it up."""
        if self._proven:
            return
        with self._calls():
            identity = self.board.load(self._image)
            if identity.clock != self._clock:
                self.board.client.set_clock(self._clock)
                identity = self.board.client.identify()
            self._identity = identity
            if self._state is None:
                self._state = self.board.client.configure(self._image.arena_bytes)
        self._proven = True

    def begin(self) -> None:
        """Start a new test: nothing is measured yet, and the board has to prove itself again."""
        self.measured = Measured()
        self._proven, self._state = False, None

    def run(self, inputs: Any = None) -> RunResult:
        """Run inferences from a freshly set-up state and return inputs and outputs.

        ``inputs``: None for the session's own, a number of random ones, or arrays: one of shape
        (n, *tensor shape) per input tensor. Raises InputsError for what does not fit the model.
        """
        chosen = self.inputs if inputs is None else as_inputs(inputs, self.model, self.inputs.seed)
        with self._calls():
            self._setup()
            outputs = self._infer_all(chosen)
        self.measured.run = RunResult(chosen, outputs)
        return self.measured.run

    def latency(self, runs: int | None = None) -> Latency:
        """Time the first inference and ``runs`` more on the first of the session's inputs.

        ``runs`` None is the session's own number. Raises ValueError for less than 1.
        """
        if runs is not None and runs < 1:
            raise ValueError(f"latency: runs must be at least 1, not {runs}")
        self.measured.latency = self.timed(runs or self._latency_runs)
        return self.measured.latency

    def timed(self, runs: int) -> Latency:
        """As `latency`, but it is not what the test has measured."""
        with self._calls():
            first = self._first_inference()
            ticks = self._invoke(runs)
        return Latency(self._us(first), tuple(map(self._us, ticks)), self.source)

    def time_more(self, runs: int) -> Latency:
        """Time ``runs`` inferences in addition to those that ``latency`` has timed."""
        earlier = self.measured.latency or self.latency()
        with self._calls():
            self._first_inference()
            ticks = self._invoke(runs)
        samples = (*earlier.samples_us, *map(self._us, ticks))
        self.measured.latency = Latency(earlier.first_us, samples, self.source)
        return self.measured.latency

    def profile(self, run: Literal["first", "warm"] = "warm", repeats: int = 1) -> LayerProfile:
        """Per-layer records of the first inference, or of one after it.

        With ``repeats`` each time is the median of so many inferences, and has its deviation.
        """
        with self._calls():
            self._first_inference()
            profiles = []
            for number in range(repeats):
                if run == "warm":
                    self._invoke(1)
                elif number:
                    self._first_inference()
                profiles.append(self.board.client.read_layers())
        self.measured.profile = collect_profile(
            profiles, self.model, self.identity, run=run, source=self.source
        )
        return self.measured.profile

    def memory(self) -> MemoryUse:
        """Arena given and used, and the size of the model."""
        note = "TFLM on this PC" if self.source == "modelled" else ""
        self.measured.memory = MemoryUse(
            self.state.arena_used_bytes,
            self.state.arena_bytes,
            self.model.size_bytes,
            self.source,
            note,
        )
        return self.measured.memory

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

    def arm_power(self, inferences: int, wait_s: float) -> None:
        """Arm a power window on the first of the session's inputs; the model has to be set up."""
        with self._calls():
            self._write(self.inputs, 0)
            self.board.client.arm_power(inferences, round(1e3 * wait_s))

    def power_result(self) -> PowerRun:
        """How the power window ended on the board."""
        with self._calls():
            return self.board.client.power_result()

    def tune_arena(self) -> TunedArena:
        """Find the smallest arena that really runs the model, without another build or flash."""
        with self._calls():
            self._setup()
            given = self.state.arena_bytes
            size, tries = self.state.arena_used_bytes, 1
            while not self._runs_in(size) and size < given:
                step = ARENA_STEP_BYTES << (tries - 1)
                size, tries = min(size + step, given), tries + 1
            self._setup()
        self.measured.arena = TunedArena(size, tries, self.source)
        return self.measured.arena

    def _runs_in(self, arena_bytes: int) -> bool:
        try:
            self.board.client.configure(arena_bytes)
            self._write(self.inputs, 0)
            self.board.client.invoke(1)
        except BoardRefused:
            return False
        return True

    def _setup(self) -> None:
        self.ensure()
        self._state = self.board.client.configure(self._image.arena_bytes)

    def _first_inference(self) -> int:
        self._setup()
        self._write(self.inputs, 0)
        return self._invoke(1)[0]

    def _infer_all(self, inputs: Inputs) -> tuple[np.ndarray, ...]:
        import numpy as np

        outputs = [
            np.empty((inputs.count, *tensor.shape), tensor.dtype) for tensor in self.model.outputs
        ]
        for number in range(inputs.count):
            self._write(inputs, number)
            self.board.client.invoke(1)
            for index, output in enumerate(outputs):
                data = self.board.client.read_output(index, output[number].nbytes)
                output[number] = np.frombuffer(data, output.dtype).reshape(output.shape[1:])
            self._progress("inference", number + 1, inputs.count)
        return tuple(outputs)

    def _write(self, inputs: Inputs, number: int) -> None:
        for index, array in enumerate(inputs.arrays):
            self.board.client.write_input(index, array[number].tobytes())

    def _invoke(self, count: int) -> list[int]:
        ticks: list[int] = []
        share = 1
        while len(ticks) < count:
            share = min(share, count - len(ticks), self.identity.max_invocations)
            began = time.monotonic()
            ticks += self.board.client.invoke(share).ticks
            per_inference = (time.monotonic() - began) / share
            share = max(1, int(CALL_SECONDS / max(per_inference, 1e-6)))
            self._progress("inference", len(ticks), count)
        return ticks

    def _us(self, ticks: int) -> float:
        return ticks * 1e6 / self.identity.tick_hz

    @contextmanager
    def _calls(self) -> Iterator[None]:
        try:
            yield
        except BoardRefused as error:
            self.measured.log.append(error.words)
            raise
        except BoardError as error:
            raised = self.board.explain(error)
            self._state = None
            self._proven = False
            self.board.discard()
            raise raised from None


def _clock_mode(name: Literal["HP", "LP"]) -> ClockMode:
    return ClockMode.HIGH_PERFORMANCE if name == "HP" else ClockMode.LOW_POWER
