"""The session of one model on one board: typed calls that give measurements, nothing of bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.base import Board, Image, source_of
from pytest_autodeploy.errors import BoardError, BoardRefused
from pytest_autodeploy.measured import Latency, Measured, MemoryUse, RunResult, TunedArena
from pytest_autodeploy.measurement import Source
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.reference.inputs import Inputs, as_inputs
from pytest_autodeploy.rpc.messages import ClockMode, Identity, ModelState

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
        self._clock = ClockMode.HIGH_PERFORMANCE if clock == "HP" else ClockMode.LOW_POWER
        self._latency_runs = latency_runs
        self._image = Image(self.model, arena_bytes)
        self._proven = False

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
        self._proven = False

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
        """Time the first inference and ``runs`` more on the first of the session's inputs."""
        with self._calls():
            first = self._first_inference()
            ticks = self._invoke(runs or self._latency_runs)
        self.measured.latency = Latency(self._us(first), tuple(map(self._us, ticks)), self.source)
        return self.measured.latency

    def profile(self, run: Literal["first", "warm"] = "warm") -> LayerProfile:
        """Per-layer records of the first inference, or of one after it."""
        with self._calls():
            self._first_inference()
            if run == "warm":
                self._invoke(1)
            records = self.board.client.read_layers()
        identity = self.identity
        ticks_are_cycles = identity.tick_hz == identity.clocks_hz[identity.clock]
        macs = _macs_by_layer(self.model, [record.tag for record in records])
        self.measured.profile = LayerProfile(
            layers=tuple(
                Layer(
                    index=index,
                    tag=record.tag,
                    us=self._us(record.ticks),
                    macs=macs[index],
                    cycles=record.ticks if ticks_are_cycles else None,
                    counters=tuple(record.counters),
                )
                for index, record in enumerate(records)
            ),
            run=run,
            counter_names=tuple(identity.counters),
            source=self.source,
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


def _macs_by_layer(model: Model, tags: Sequence[str]) -> list[int | None]:
    """MACs per record: the operators of the main graph in order, when the board ran just those."""
    main = [operator for operator in model.operators if operator.subgraph == 0]
    if [operator.name for operator in main] == list(tags):
        return [operator.macs for operator in main]
    return [None] * len(tags)
