"""The host's side of the RPC: one method per call of ``firmware/autodeploy.erpc``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_autodeploy.base.errors import LinkError
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.caller import Caller
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.inference import Inferred, batches, split
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import (
    MAX_MESSAGE_BYTES,
    BoardReport,
    ClockMode,
    Inference,
    InvokeTiming,
    LayerRecord,
    ModelState,
    PowerRun,
    ProfileTiming,
    TensorInfo,
)
from pytest_autodeploy.rpc.pieces import infer_depth, outputs_fit, read_plan, write_plan

Progress = Callable[[int, int], None]
"""Called with the bytes that are done and the bytes that there are."""

_LEAST_HASHED_BYTES_PER_S = 250_000
"""A core emulated on a busy PC reads a model some ten times faster than that."""

_MOST_LAYERS = 1 << 16
"""Of a board whose model this client has not configured."""


class ValidatorClient(Caller):
    """Calls a board over ``link``, each within ``timeout_s`` seconds unless a method says other.

    Every method raises BoardRefused with the board's own words when the board says no, and
    BoardTimeout, BoardDied or LinkError, which name the call, the board and the seconds, when the
    link or the board broke. Calls that may be repeated are, up to twice, within their deadline.
    """

    def __init__(self, link: Link, timeout_s: float = 10.0) -> None:
        super().__init__(link, timeout_s)
        self._most_layers = _MOST_LAYERS

    def configure(self, arena_bytes: int = 0) -> ModelState:
        """Prepares the model in an arena of ``arena_bytes``; 0: the size it was flashed with."""
        state: ModelState = self._call(calls.CONFIGURE, arena_bytes)[0]
        self._most_layers = state.layers
        return state

    def describe_input(self, index: int) -> TensorInfo:
        """Name, type, shape and quantisation of an input."""
        info: TensorInfo = self._call(calls.DESCRIBE_INPUT, index)[0]
        return info

    def describe_output(self, index: int) -> TensorInfo:
        """Name, type, shape and quantisation of an output."""
        info: TensorInfo = self._call(calls.DESCRIBE_OUTPUT, index)[0]
        return info

    def write_input(
        self,
        index: int,
        data: bytes | bytearray | memoryview,
        on_progress: Progress | None = None,
    ) -> None:
        """Writes a whole input tensor; ``timeout_s`` bounds the time without progress."""
        view = memoryview(data).cast("B")
        piece, depth = write_plan(self._known())
        pieces = [
            (index, start, view[start : start + piece]) for start in range(0, len(view), piece)
        ]
        done = 0
        for (_, _, sent), _ in zip(
            pieces, self._calls(calls.WRITE_INPUT, pieces, depth=depth), strict=True
        ):
            done += len(sent)
            if on_progress:
                on_progress(done, len(view))

    def invoke(self, count: int = 1, timeout_s: float | None = None) -> InvokeTiming:
        """Runs the model ``count`` times, without the profiler. Times are in ticks of the board."""
        timing: InvokeTiming = self._call(calls.INVOKE, count, timeout_s=timeout_s)[0]
        if len(timing.ticks) != count:
            raise self.link.failure(LinkError, f"{len(timing.ticks)} times of {count} inferences")
        return timing

    def read_output(self, index: int, nbytes: int, on_progress: Progress | None = None) -> bytes:
        """The ``nbytes`` of an output tensor; ``timeout_s`` bounds the time without progress."""
        return self._read(calls.READ_OUTPUT, index, nbytes, on_progress)

    def infer(
        self, inputs: Sequence[bytes], output_sizes: Sequence[int], timeout_s: float | None = None
    ) -> Inferred:
        """One inference: the bytes of every input in, those of every output out.

        ``output_sizes`` are their bytes. It takes one round trip when inputs and outputs fit a
        message each.
        """
        return next(self.infer_each([inputs], output_sizes, timeout_s=timeout_s))

    def infer_each(
        self,
        samples: Iterable[Sequence[bytes]],
        output_sizes: Sequence[int],
        *,
        overlap: bool = False,
        timeout_s: float | None = None,
    ) -> Iterator[Inferred]:
        """One inference per sample, as `infer`.

        With ``overlap`` the next inputs are sent while the board infers, where it has room for
        them. After a failure of the link samples may then run again, so the model has to be
        without state.
        """
        identity = self._known()
        for batch in batches(samples):
            depth = infer_depth(identity, sum(map(len, batch[0])), sum(output_sizes))
            if depth == 0:
                for inputs in batch:
                    yield self._infer_in_pieces(inputs, output_sizes, timeout_s)
                continue
            pieces = [(b"".join(inputs),) for inputs in batch]
            for (inference,) in self._calls(
                calls.INFER, pieces, depth=depth if overlap else 1, timeout_s=timeout_s
            ):
                yield self._inferred(inference, output_sizes)

    def profile(self, timeout_s: float | None = None) -> ProfileTiming:
        """One inference with the profiler; `read_layers` gives its layers."""
        timing: ProfileTiming = self._call(calls.PROFILE, timeout_s=timeout_s)[0]
        return timing

    def read_layers(self) -> list[LayerRecord]:
        """All per-layer records of the latest profile."""
        records: list[LayerRecord] = []
        total: int | None = None
        while total is None or len(records) < total:
            said, page = self._call(calls.READ_LAYERS, len(records), MAX_MESSAGE_BYTES)
            total = said if total is None else total
            records += page
            if said != total or len(records) > total or total > self._most_layers:
                what = f"{len(records)} of {said} layers, where there are {self._most_layers}"
                raise self.link.failure(LinkError, what)
            if not page and len(records) < total:
                what = f"no layer after {len(records)} of {total}"
                raise self.link.failure(LinkError, what)
        return records

    def describe_board(self) -> BoardReport:
        """Where things are on the board, and how it has started."""
        report: BoardReport = self._call(calls.DESCRIBE_BOARD)[0]
        return report

    def set_clock(self, mode: ClockMode) -> None:
        """Changes the clock mode of the core, and with it perhaps the ticks per second."""
        self._call(calls.SET_CLOCK, mode)

    def reset_state(self) -> None:
        """Sets resource variables and state tensors as they are after `configure`."""
        self._call(calls.RESET_STATE)

    def reboot(self) -> None:
        """Restarts the board; `identify` tells when it is back."""
        self._call(calls.REBOOT)
        self._forget_session()
        self._log_cursor = 0

    def arm_power(self, count: int, wait_ms: int) -> None:
        """Arms a window of ``count`` inferences; each wait for the trigger lasts ``wait_ms``.

        Nothing may be sent before the run has ended.
        """
        self._call(calls.ARM_POWER, count, wait_ms)

    def power_result(self) -> PowerRun:
        """How the latest power run ended; a board in the midst of one answers at its end."""
        run: PowerRun = self._call(calls.POWER_RESULT)[0]
        return run

    def keep_tensors(self, keep: bool) -> None:
        """From the next `configure` on, keeps every tensor readable, which needs a larger arena.

        Refused by boards without `Capability.ANY_TENSOR`.
        """
        self._call(calls.KEEP_TENSORS, keep)

    def describe_tensor(self, index: int) -> TensorInfo:
        """A kept tensor of subgraph 0 by its index in the model file; its size may be 0 bytes."""
        info: TensorInfo = self._call(calls.DESCRIBE_TENSOR, index)[0]
        return info

    def read_tensor(self, index: int, nbytes: int, on_progress: Progress | None = None) -> bytes:
        """The ``nbytes`` of a kept tensor, as after the latest inference; otherwise as an output.

        Refused when tensors were not kept at the latest `configure`, and before an inference.
        """
        return self._read(calls.READ_TENSOR, index, nbytes, on_progress)

    def select_counters(self, events: Sequence[int] = ()) -> int:
        """Counts these events per layer; without any, the board's own. Gives how many fit at once.

        Events are Arm's numbers. Refused by boards whose counters are fixed.
        """
        at_once: int = self._call(calls.SELECT_COUNTERS, tuple(events))[0]
        return at_once

    def begin_model(self, size_bytes: int, sha256: bytes) -> None:
        """Begins to load a model of ``size_bytes``; the one that was there is gone.

        Refused by boards without `Capability.MODEL_UPLOAD`.
        """
        self._call(calls.BEGIN_MODEL, size_bytes, sha256)

    def write_model(self, content: bytes, on_progress: Progress | None = None) -> None:
        """Writes the whole model that was begun; ``timeout_s`` bounds the time without progress."""
        view = memoryview(content).cast("B")
        piece, depth = write_plan(self._known())
        starts = range(0, len(view), piece)
        pieces = [(start, view[start : start + piece]) for start in starts]
        replies = self._calls(calls.WRITE_MODEL, pieces, depth=depth)
        for (start, sent), _ in zip(pieces, replies, strict=True):
            if on_progress:
                on_progress(start + len(sent), len(view))

    def prove_model(self, size_bytes: int) -> bytes:
        """The SHA-256 of the model that the board holds; it reads its ``size_bytes`` for that.

        Refused (``BAD_MODEL``) when it is not the one that was begun.
        """
        timeout_s = self.timeout_s + size_bytes / _LEAST_HASHED_BYTES_PER_S
        sha256: bytes = self._call(calls.PROVE_MODEL, timeout_s=timeout_s)[0]
        return sha256

    def _read(
        self, call: Call, index: int, nbytes: int, on_progress: Progress | None = None
    ) -> bytes:
        piece, depth = read_plan(self._known())
        pieces = [(index, start, min(piece, nbytes - start)) for start in range(0, nbytes, piece)]
        data = bytearray()
        replies = self._calls(call, pieces, depth=depth)
        for (_, _, length), (part,) in zip(pieces, replies, strict=True):
            if len(part) != length:
                raise self.link.failure(LinkError, f"{len(part)} bytes instead of {length}")
            data += part
            if on_progress:
                on_progress(len(data), nbytes)
        return bytes(data)

    def _infer_in_pieces(
        self, inputs: Sequence[bytes], output_sizes: Sequence[int], timeout_s: float | None
    ) -> Inferred:
        for index, data in enumerate(inputs):
            self.write_input(index, data)
        inference: Inference = self._call(calls.INFER, b"", timeout_s=timeout_s)[0]
        if outputs_fit(self._known(), sum(output_sizes)):
            return self._inferred(inference, output_sizes)
        outputs = tuple(self.read_output(index, size) for index, size in enumerate(output_sizes))
        return Inferred(inference.ticks, inference.is_first, outputs)

    def _inferred(self, inference: Inference, output_sizes: Sequence[int]) -> Inferred:
        if len(inference.outputs) != sum(output_sizes):
            what = f"{len(inference.outputs)} bytes of outputs instead of {sum(output_sizes)}"
            raise self.link.failure(LinkError, what)
        outputs = split(inference.outputs, output_sizes)
        return Inferred(inference.ticks, inference.is_first, outputs)
