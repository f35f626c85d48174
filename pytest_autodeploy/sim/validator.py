"""The simulated board itself: what it answers to each call, and what its flash holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.rpc.messages import (
    BoardReport,
    ClockMode,
    Identity,
    Inference,
    InvokeTiming,
    LayerRecord,
    ModelState,
    PowerRun,
    ProfileTiming,
    ResetCause,
    Status,
    TensorInfo,
)
from pytest_autodeploy.rpc.service import Log, Refused, Sessions
from pytest_autodeploy.sim.counters import AT_ONCE, check_events
from pytest_autodeploy.sim.description import CLOCKS, MAX_INVOCATIONS, identity_of, report_of
from pytest_autodeploy.sim.flash import NO_MODEL, Flash, Memories, flashed, with_loaded
from pytest_autodeploy.sim.loading import ModelStore
from pytest_autodeploy.sim.power import PowerRig
from pytest_autodeploy.sim.ranges import at, check_range
from pytest_autodeploy.sim.stopwatch import Stopwatch

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.sim.engine import Engine
    from pytest_autodeploy.sim.kernels import Kernels


class SimulatedValidator:
    """A board with the memories and clocks of ``spec``; TFLM runs its model, its time is modelled.

    ``kernels`` run the model; ``stopwatch`` says how long it took; ``power`` is the power run, with
    the wires to a meter; ``memories`` are where model and arena are.
    """

    def __init__(
        self,
        spec: BoardSpec,
        kernels: Kernels,
        stopwatch: Stopwatch | None = None,
        power: PowerRig | None = None,
        memories: Memories | None = None,
    ) -> None:
        self._spec = spec
        self._memories = memories or Memories()
        self._kernels = kernels
        self._stopwatch = stopwatch or Stopwatch(spec.core)
        self.power = power or PowerRig()
        self.log = Log()
        self._image: Flash | None = None
        self._flash: Flash | None = None
        self._store = ModelStore(0)
        self._engine: Engine | None = None
        self._keep = False
        self._records: tuple[LayerRecord, ...] | None = None
        self.reset(ResetCause.POWER_ON)

    def flash(self, path: Path, arena_bytes: int = 0, build_id: str | None = None) -> str:
        """Put a model into the flash and restart; returns its SHA-256.

        ``arena_bytes`` 0 is the largest arena on the chip. Raises ModelDoesNotFit, OSError.
        """
        self._image = flashed(self._spec, self._memories, path, arena_bytes, build_id)
        self.reset()
        return self._image.sha256.hex()

    def identify(self) -> Identity:
        return identity_of(self._spec, self._flash, self._clock, self._events)

    def describe_board(self) -> BoardReport:
        where = self._spec, self._memories, self._flash
        return report_of(*where, self._arena_bytes, self._reset_cause)

    def configure(self, arena_bytes: int) -> ModelState:
        flash = self._flash
        if flash is None:
            raise Refused(Status.NO_MODEL, "no model has been flashed")
        if flash.model is NO_MODEL:
            raise Refused(Status.NO_MODEL, str(NO_MODEL))
        self._engine = None  # frees its arena
        self._stopwatch.forget()
        self._records = None
        arena_bytes = arena_bytes or flash.arena_bytes
        self._memories.check(self._spec, flash.size_bytes, arena_bytes)
        engine = self._kernels.load(flash, arena_bytes, self.log, keep=self._keep)
        self._engine, self._arena_bytes = engine, arena_bytes
        self._stopwatch.observe(engine)
        return ModelState(
            arena_bytes=arena_bytes,
            arena_used_bytes=engine.arena_used_bytes,
            inputs=len(engine.inputs),
            outputs=len(engine.outputs),
            layers=len(self._stopwatch.layers),
            variables=engine.model.resource_variables,
        )

    def describe_input(self, index: int) -> TensorInfo:
        return at(self._configure().inputs, index, "input")

    def describe_output(self, index: int) -> TensorInfo:
        return at(self._configure().outputs, index, "output")

    def write_input(self, index: int, offset: int, data: bytes) -> None:
        info = self.describe_input(index)
        check_range(f"input {index}", info, offset, len(data))
        self._configure().write(index, offset, data)

    def invoke(self, count: int) -> InvokeTiming:
        engine = self._configure()
        if not 1 <= count <= MAX_INVOCATIONS:
            raise Refused(Status.BAD_ARGUMENT, f"count {count} is not 1 to {MAX_INVOCATIONS}")
        first = not engine.has_run
        engine.run(count)
        self._stopwatch.observe(engine)
        ticks = self._stopwatch.inferences(count)
        return InvokeTiming(sum(ticks), first, ticks)

    def infer(self, inputs: bytes) -> Inference:
        engine = self._configure()
        if inputs:
            engine.write_all(inputs)
        timing = self.invoke(1)
        outputs = b"".join(engine.result(index) for index in range(len(engine.outputs)))
        return Inference(timing.total_ticks, timing.includes_first, outputs)

    def profile(self) -> ProfileTiming:
        """Its profiler takes no time: the layers' are modelled."""
        timing = self.invoke(1)
        self._records = self._stopwatch.profile(self._events)
        return ProfileTiming(timing.total_ticks, 0, timing.includes_first, len(self._records))

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        info = self.describe_output(index)
        check_range(f"output {index}", info, offset, length)
        return self._configure().result(index)[offset : offset + length]

    def read_layers(self, first: int, count: int) -> tuple[int, Sequence[LayerRecord]]:
        self._configure()
        if self._records is None:
            raise Refused(Status.BAD_ARGUMENT, "no profile has run since configure")
        if first > len(self._records):
            raise Refused(Status.BAD_ARGUMENT, f"layer {first} of {len(self._records)}")
        return len(self._records), self._records[first : first + count]

    def set_clock(self, mode: ClockMode) -> None:
        if CLOCKS[mode] not in self._spec.clocks_hz:
            raise Refused(Status.UNSUPPORTED, f"{self._spec.name} has no {CLOCKS[mode]} clock")
        self._clock = mode

    def reset_state(self) -> None:
        self._configure().reset()

    def reboot(self) -> None:
        """Restart; the log of a board that starts is empty."""
        self.reset(ResetCause.REQUESTED)
        self.log = Log()

    def reset(self, cause: ResetCause = ResetCause.PIN) -> None:
        """Forget engine, what is kept, clock, counters, power run, session; flash and log stay."""
        self.power.restart()
        self._stopwatch.restart()
        self.sessions = Sessions()
        self._reset_cause = cause
        self._flash = self._image
        self._store = ModelStore(self._image.room_bytes if self._image else 0)
        self._engine = None
        self._arena_bytes = 0
        self._keep = False
        self._events: tuple[int, ...] = ()
        self._stopwatch.forget()
        self._records = None
        fast = "HP" in self._spec.clocks_hz
        self._clock = ClockMode.HIGH_PERFORMANCE if fast else ClockMode.LOW_POWER

    def arm_power(self, count: int, wait_ms: int) -> None:
        """The model runs once, so that a run that fails is refused; the others are modelled."""
        if count:
            self._configure().run(1)
            self._stopwatch.observe(self._configure())
        drawn = min(count, MAX_INVOCATIONS)
        ticks = sum(self._stopwatch.inferences(drawn)) * count // max(1, drawn)
        clock_hz = self._spec.clocks_hz[CLOCKS[self._clock]]
        self.power.arm(count, ticks, tick_hz=clock_hz, wait_s=wait_ms / 1e3)

    def power_result(self) -> PowerRun:
        return self.power.finish()

    def keep_tensors(self, keep: bool) -> None:
        self._keep = keep

    def describe_tensor(self, index: int) -> TensorInfo:
        tensors = self._configure().tensors
        if not tensors:
            text = "tensors are not kept: call keep_tensors, then configure"
            raise Refused(Status.BAD_ARGUMENT, text)
        return at(tensors, index, "tensor")

    def read_tensor(self, index: int, offset: int, length: int) -> bytes:
        info = self.describe_tensor(index)
        check_range(f"tensor {index}", info, offset, length)
        return self._configure().kept(index)[offset : offset + length]

    def select_counters(self, events: Sequence[int]) -> int:
        check_events(events, self._spec.core)
        self._events = tuple(events)
        self._records = self._records and ()
        return AT_ONCE

    def begin_model(self, size_bytes: int, sha256: bytes) -> None:
        self._store.begin(size_bytes, sha256)
        self._unload()

    def write_model(self, offset: int, data: bytes) -> None:
        self._store.write(offset, data)

    def prove_model(self) -> bytes:
        try:
            content = self._store.prove()
        except Refused:
            self._unload()
            raise
        assert self._image is not None
        assert self._flash is not None
        if self._flash.model is NO_MODEL:
            self._flash = with_loaded(self._image, content)
        return self._flash.sha256

    def _unload(self) -> None:
        if self._image and self._image.loaded:
            self._flash, self._engine = self._image, None
            self._stopwatch.forget()
            self._records = None

    def _configure(self) -> Engine:
        if self._flash is None:
            raise Refused(Status.NO_MODEL, "no model has been flashed")
        if self._engine is None:
            raise Refused(Status.NOT_CONFIGURED, "configure has not succeeded since the start")
        return self._engine
