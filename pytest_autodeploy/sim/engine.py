"""TFLM on this PC: one interpreter with one model and one arena, from the tflite-micro package."""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BrokenPackage, ModelError
from pytest_autodeploy.model.counters import executions, has_control_flow, with_counters
from pytest_autodeploy.rpc.inference import split
from pytest_autodeploy.rpc.messages import Status, TensorInfo, TensorType
from pytest_autodeploy.rpc.service import Log, Refused
from pytest_autodeploy.sim.pieces import Pieces, cut_behind, readable
from pytest_autodeploy.sim.survival import crashes_for_want_of_memory
from pytest_autodeploy.sim.tflm import DTYPES, LEAST_KEPT_BYTES, Tflm, import_runtime

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model, Tensor
    from pytest_autodeploy.sim.captured import CapturedStderr
    from pytest_autodeploy.sim.operator_fault import OperatorFault

COUNTER_BYTES = 256 * 1024
"""What a model that counts its loops may take beyond twice its arena, which decides what fits."""

STUCK_S = 60.0
"""After so long in one call, and a second more for each inference, TFLM counts as hanging."""

_NO_KERNEL = re.compile(r"(?i)find op|find a parser|op ?code")
_NO_MEMORY = re.compile(
    r"(?i)failed to (re)?(size|allocate)|arena size is too small|requested:|too many buffers"
    r"|missing:? \d"
)
_USED = re.compile(rb"Arena allocation total (\d+) bytes")


class Engine:
    """An interpreter that is ready to run; TFLM's words go to ``log``.

    ``executions``: how often each subgraph ran in the latest inference, where that depends on the
    inputs (WHILE, IF). ``arena_used_bytes`` is what TFLM counts on this PC, whose pointers are
    longer than a board's; with ``keep``, when TFLM does not count, it is the whole arena.
    ``tensors`` are those of the main subgraph when they are kept, else none. Operators with
    ``faults`` compute something else, and the rest of the model works on that. Raises Refused when
    TFLM cannot prepare the model in ``arena_bytes``, or when the model cannot have such faults.
    """

    def __init__(
        self,
        model: Model,
        arena_bytes: int,
        *,
        log: Log,
        stderr: CapturedStderr,
        keep: bool = False,
        faults: Sequence[OperatorFault] = (),
    ) -> None:
        self.model = model
        self.arena_bytes = arena_bytes
        self._log = log
        self._stderr = stderr
        self._keep = keep
        for tensor in (*model.inputs, *model.outputs):
            _check_dtype(tensor)
        self._pieces = cut_behind(model, faults) if faults else ()
        self._prepare()
        self.inputs = self._describe(self._whole.input_details, model.inputs)
        self.outputs = self._describe(self._whole.output_details, model.outputs)
        self.tensors = self._describe_all() if keep else ()
        self.arena_used_bytes = arena_bytes if keep else self._arena_used()
        self.executions: Mapping[int, int] = {}
        self._written = [bytearray(info.size_bytes) for info in self.inputs]
        self._results: list[bytes] = []

    def write(self, index: int, offset: int, data: bytes) -> None:
        """Store bytes of an input for the next inference."""
        self._written[index][offset : offset + len(data)] = data

    def write_all(self, data: bytes) -> None:
        """Store all inputs, one behind the other. Raises Refused when these are other bytes."""
        sizes = [info.size_bytes for info in self.inputs]
        if sum(sizes) != len(data):
            text = f"the inputs have {sum(sizes)} bytes, not {len(data)}"
            raise Refused(Status.BAD_ARGUMENT, text)
        self._written = [bytearray(part) for part in split(data, sizes)]

    def run(self, count: int) -> None:
        """Run the model ``count`` times on the inputs as written. Raises Refused when it fails."""
        self._results = []
        arrays = [_array(data, info) for data, info in zip(self._written, self.inputs, strict=True)]
        with self._watch(Status.INVOKE_FAILED, STUCK_S + count):
            for _ in range(count):
                self._runner.run(arrays)
                if self._counter is not None and self._counter is not self._runner:
                    self._counter.run(arrays)
            outputs = range(len(self.outputs))
            self._results = [self._runner.output(index).tobytes() for index in outputs]
        self.executions = self._count()

    def result(self, index: int) -> bytes:
        """An output of the latest inference."""
        self._check_has_run()
        return self._results[index]

    def kept(self, index: int) -> bytes:
        """One of ``tensors`` after the latest inference."""
        self._check_has_run()
        tensor = readable(self.model).get(index)
        if tensor is None:
            return b""
        runner = self._whole if tensor.constant else self._runner
        return runner.tensor(index).tobytes()

    def _check_has_run(self) -> None:
        if not self._results:
            raise Refused(Status.BAD_ARGUMENT, "no inference has run since configure")

    @property
    def has_run(self) -> bool:
        """Whether there is a latest inference."""
        return bool(self._results)

    def reset(self) -> None:
        """Bring variables and the state of operators to what they were before the first inference.

        TFLM's own reset leaves CALL_ONCE as it is, so such a model is prepared anew.
        """
        if any(operator.name == "CALL_ONCE" for operator in self.model.operators):
            self._prepare()
        else:
            with self._watch(Status.INTERNAL_ERROR, STUCK_S):
                self._runner.reset()
                if self._counter is not None and self._counter is not self._runner:
                    self._counter.reset()

    def _prepare(self) -> None:
        """The whole model decides what fits the arena, also when it then runs in pieces."""
        try:
            import_runtime()
        except BrokenPackage as error:
            raise Refused(Status.INTERNAL_ERROR, error.what) from None
        if self._keep and self.arena_bytes < LEAST_KEPT_BYTES:
            raise Refused(Status.NO_MEMORY, self._too_small())
        if crashes_for_want_of_memory(self.model, self.arena_bytes, keep=self._keep):
            raise Refused(Status.NO_MEMORY, f"{self._too_small()}: TFLM crashes in it")
        with self._watch(Status.BAD_MODEL, STUCK_S):
            self._whole = Tflm(self.model, self.arena_bytes, keep=self._keep)
            self._runner: Tflm | Pieces = self._whole
            self._counter = self._make_counter()
            if self._pieces:
                self._runner = Pieces(self.model, self._pieces, self.arena_bytes, keep=self._keep)
            elif self._counter is not None:
                self._runner = self._counter

    def _make_counter(self) -> Tflm | None:
        """The model with a counter of its subgraphs; its tensors are the model's, and some more."""
        if not has_control_flow(self.model):
            return None
        try:
            counting = with_counters(self.model)
        except ModelError as error:
            raise Refused(Status.UNSUPPORTED, f"its time is not known: {error.what}") from None
        return Tflm(counting, 2 * self.arena_bytes + COUNTER_BYTES, keep=self._keep)

    def _count(self) -> Mapping[int, int]:
        if self._counter is None:
            return {}
        counts = self._counter.output(len(self.outputs))
        return executions(self.model.operators, [int(count) for count in counts])

    def _too_small(self) -> str:
        kept = " with all tensors kept" if self._keep else ""
        return f"an arena of {self.arena_bytes} bytes is too small for the model{kept}"

    def _describe(self, details: Any, tensors: Sequence[Tensor]) -> tuple[TensorInfo, ...]:
        with self._watch(Status.BAD_MODEL, STUCK_S):
            return tuple(_info(tensor, details(index)) for index, tensor in enumerate(tensors))

    def _describe_all(self) -> tuple[TensorInfo, ...]:
        known = readable(self.model)
        with self._watch(Status.BAD_MODEL, STUCK_S):
            return tuple(
                _kept_info(tensor, self._whole if tensor.index in known else None)
                for tensor in self.model.tensors
                if tensor.subgraph == 0
            )

    def _arena_used(self) -> int:
        self._whole.print_allocations()
        found = _USED.search(self._stderr.take_back())
        return int(found[1]) if found else 0

    @contextmanager
    def _watch(self, status: Status, seconds: float) -> Iterator[None]:
        """Guard calls of TFLM: what they log is kept, what they raise is refused with ``status``.

        A call that takes longer than ``seconds`` ends the process, as a watchdog restarts a board.
        """
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
        try:
            yield
        except Exception as error:
            raise self._refusal(status, error) from None
        finally:
            faulthandler.cancel_dump_traceback_later()
        for line in self._new_text():
            self._log.write(line)

    def _refusal(self, status: Status, error: Exception) -> Refused:
        text = "; ".join(self._new_text()) or str(error)
        if status is Status.BAD_MODEL and _NO_KERNEL.search(text):
            return Refused(Status.UNSUPPORTED_OPERATOR, f"TFLM cannot run the model: {text}")
        if status is Status.BAD_MODEL and _NO_MEMORY.search(text):
            return Refused(Status.NO_MEMORY, f"{self._too_small()}; TFLM says: {text}")
        return Refused(status, f"TFLM says: {text}")

    def _new_text(self) -> list[str]:
        lines = self._stderr.take().decode(errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]


def _check_dtype(tensor: Tensor) -> None:
    if tensor.dtype not in DTYPES:
        raise Refused(
            Status.UNSUPPORTED,
            f"tensor {tensor.name!r} is {tensor.dtype}; the simulated board has inputs and outputs"
            f" of {', '.join(sorted(DTYPES))}",
        )


def _info(tensor: Tensor, details: dict[str, Any]) -> TensorInfo:
    import numpy as np

    dtype = np.dtype(details["dtype"])
    shape = tuple(int(size) for size in details["shape"])
    return TensorInfo(
        name=tensor.name,
        element_type=TensorType[dtype.name.upper()],
        shape=shape,
        size_bytes=dtype.itemsize * int(np.prod(shape, dtype=np.int64)),
        scale=tensor.scale or 0.0,
        zero_point=tensor.zero_point or 0,
    )


def _kept_info(tensor: Tensor, tflm: Tflm | None) -> TensorInfo:
    """Without an interpreter that gives the tensor, what the file says, and no bytes."""
    if tflm is not None:
        values = tflm.tensor(tensor.index)
        return _info(tensor, {"dtype": values.dtype, "shape": values.shape})
    element_type = TensorType.__members__.get(tensor.dtype.upper(), TensorType.NO_TYPE)
    scale, zero_point = tensor.scale or 0.0, tensor.zero_point or 0
    return TensorInfo(tensor.name, element_type, tensor.shape, 0, scale, zero_point)


def _array(data: bytearray, info: TensorInfo) -> Any:
    import numpy as np

    return np.frombuffer(data, info.dtype).reshape(info.shape)
