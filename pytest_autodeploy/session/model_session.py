"""The session of one model on one board: typed calls that give measurements, nothing of bytes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BoardDied, BoardRefused, Unsupported
from pytest_autodeploy.profile.collect import collect_profile
from pytest_autodeploy.profile.records import LayerProfile
from pytest_autodeploy.reference.inputs import Inputs, as_inputs
from pytest_autodeploy.rpc.messages import LayerRecord, PowerRun, Status
from pytest_autodeploy.session.arena_search import least_arena
from pytest_autodeploy.session.measured import Latency, MemoryUse, RunResult, TunedArena
from pytest_autodeploy.session.model_on_board import ModelOnBoard

if TYPE_CHECKING:
    from typing import Literal

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.session.labelled import LabelledRun


class ModelSession(ModelOnBoard):
    """The RPC session of ``model`` flashed on ``board``.

    ``inputs`` are those of a run that is given none; ``source`` is that of all figures;
    ``identity`` is what the board said of itself, ``state`` what its engine says of the model.

    Every method raises a BoardError that names the call, the board and the seconds when the board
    breaks, and BoardRefused with the board's words when it says no.
    """

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Operators that modelled time and energy leave out, because their work is unknown."""
        from pytest_autodeploy.session.left_out import left_out

        return left_out(self.model) if self.kind.pc_kernels else ()

    def sibling(self, model: Model, inputs: Inputs) -> ModelSession:
        """A session of a model on the same board in the same clock mode, with the largest arena.

        With this one's own model it has the same arena. This one proves itself again afterwards.
        """
        self._proven = False
        arena_bytes = self._image.arena_bytes if model is self.model else 0
        other = ModelSession(model, self.board, inputs=inputs, progress=self.progress)
        other.recording.to = self.recording.to
        other.prepare(inputs, arena_bytes=arena_bytes, clock=self.clock, state=self.state_mode)
        return other

    def run(self, inputs: Any = None) -> RunResult:
        """Run inferences from a freshly set-up state and return inputs and outputs.

        ``inputs``: None for the session's own, a number of random ones, or arrays: one of shape
        (n, *tensor shape) per input tensor. Raises InputsError for what does not fit the model.
        """
        chosen = self.inputs if inputs is None else as_inputs(inputs, self.model, self.inputs.seed)
        if self.before_run:
            self.before_run(chosen)
        with self.calls():
            self._setup()
            outputs = self._infer_all(chosen)
        self.measured.run = RunResult.of(self.model, chosen, outputs, reset_each=self.reset_each)
        return self.measured.run

    def accuracy(
        self,
        labels: Any = None,
        *,
        inputs: Any = None,
        top_k: int | None = None,
        output: int | None = None,
    ) -> LabelledRun:
        """Run labelled inputs and return how accurate the model is on them.

        ``labels``: None for the session's own, the path of a file, or an array: class indices
        (integers) of shape (n,), or real targets (floats). ``inputs`` as in `run`. ``top_k`` (1)
        and ``output`` (0) are those of the test's limit unless given. A board that breaks is
        restarted a few times, and goes on where it broke. Raises InputsError.
        """
        from pytest_autodeploy.session.labelled_run import run_labelled

        chosen = self.inputs if inputs is None else as_inputs(inputs, self.model, self.inputs.seed)
        self.measured.labelled = run_labelled(self, chosen, labels, top_k, output)
        return self.measured.labelled

    def latency(self, runs: int | None = None) -> Latency:
        """Time the first inference and ``runs`` more on the first of the session's inputs.

        ``runs`` None is the session's own number. Raises ValueError for less than 1.
        """
        if runs is not None and runs < 1:
            raise ValueError(f"latency: runs must be at least 1, not {runs}")
        self.measured.latency = self.time_runs(runs or self._latency_runs)
        return self.measured.latency

    def time_runs(self, runs: int) -> Latency:
        """As `latency`, but it is not what the test has measured."""
        with self.calls():
            first = self._first_inference()
            ticks = self._invoke(runs)
            self._check_clock()
        samples = tuple(map(self._us, ticks))
        doubt = self.clock_doubt
        return Latency(self._us(first), samples, self.source, self.incomplete, doubt=doubt)

    def time_more(self, runs: int, *, restarted: bool = False) -> Latency:
        """Time ``runs`` inferences in addition to those that ``latency`` has timed.

        ``restarted``: the board has started anew since.
        """
        earlier = self.measured.latency or self.latency()
        with self.calls():
            self._first_inference()
            ticks = self._invoke(runs)
            self._check_clock()
        more = [*map(self._us, ticks)]
        self.measured.latency = earlier.with_more(more, restarted=restarted)
        return self.measured.latency

    def profile(self, run: Literal["first", "warm"] = "warm", repeats: int = 1) -> LayerProfile:
        """Per-layer records of the first inference, or of one after it.

        With ``repeats`` each time is the median of so many inferences, and has its deviation.
        """
        with self.calls():
            self.ensure()
            records, counters = self._counters.record(
                self.board.client, partial(self._records, run), repeats, self.identity.counters
            )
            self.measured.profile = collect_profile(
                records, self.model, self.identity, counters=counters, run=run, source=self.source
            )
        if run == "first":
            self.measured.first_profile = self.measured.profile
        return self.measured.profile

    def profiles(self) -> list[LayerProfile]:
        """The profiles that ``--tflite-profile`` names: of the first inference, of warm ones.

        A warm one is the median of as many inferences as are timed. The last counts as the test's.
        """
        repeats = {"first": 1, "warm": self._latency_runs}
        profiled = self._profiled or (("first",) if self.unproven else ("warm",))
        return [self.profile(run, repeats[run]) for run in profiled]

    def _records(self, run: Literal["first", "warm"], repeats: int) -> list[list[LayerRecord]]:
        """The layers of ``repeats`` inferences."""
        records = []
        for number in range(repeats):
            if run == "first" or number == 0:
                self._setup()
                self._write(self.inputs, 0)
            if run == "warm" and number == 0:
                self._invoke(1)
            self._profile_once()
            records.append(self.board.client.read_layers())
        return records

    def memory(self) -> MemoryUse:
        """Arena given and used, and the size of the model."""
        note = "TFLM on this PC" if self.kind.pc_kernels else ""
        self.measured.memory = MemoryUse(
            self.state.arena_used_bytes,
            self.state.arena_bytes,
            self.model.size_bytes,
            self.source,
            note,
        )
        return self.measured.memory

    def arm_power(self, inferences: int, wait_s: float) -> None:
        """Arm a power window on the first of the session's inputs; the model has to be set up."""
        with self.calls():
            self._write(self.inputs, 0)
            self.board.client.arm_power(inferences, round(1e3 * wait_s))

    def power_result(self) -> PowerRun:
        """How the power window ended on the board."""
        with self.calls():
            return self.board.client.power_result()

    def tune_arena(self) -> TunedArena:
        """Find the smallest arena that really runs the model, without another build or flash.

        The search starts from what similar runs found, and is bounded in tries and seconds.

        Raises BoardRefused when it does not run in the largest: then no arena is too small; and
        Unsupported when the arena is built into the firmware.
        """
        if self.unproven:
            raise Unsupported(
                "tune_arena: the arena is built into stock firmware",
                status=Status.UNSUPPORTED.name,
                text="",
                board=self.board.id,
            )
        with self.calls():
            self._first_inference()
            state, known = self.state, (self.model.sha256, self.identity)
            guess = self.recording.arena_guess(state.arena_used_bytes)
            if guess is None:
                likely = self.known_arenas.guess(*known, state.arena_used_bytes)
                guess = self.recording.keep_guess(likely)
            found = least_arena(self._runs_in, guess, state.arena_bytes)
            self._setup()
            if found.exact:
                self.known_arenas.keep(*known, state.arena_used_bytes, found.bytes)
        self.measured.arena = TunedArena(found.bytes, found.tries, self.source, found.failed_bytes)
        return self.measured.arena

    def _runs_in(self, arena_bytes: int) -> bool:
        try:
            if not self._prepares_in(arena_bytes):
                return False
            self._write(self.inputs, 0)
            self.board.client.invoke(1)
        except BoardRefused:
            return False
        return True

    def _prepares_in(self, arena_bytes: int) -> bool:
        """False when TFLM crashed on a PC: it does not check its first allocations.

        Firmware survives that and refuses.
        """
        try:
            self.board.client.configure(arena_bytes)
        except BoardDied:
            if not self.kind.pc_kernels:
                raise
            self.board.discard()
            self._proven, self._state = False, None
            self.ensure()
            return False
        return True
