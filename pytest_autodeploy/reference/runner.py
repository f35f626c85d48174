"""The reference runs of a model on the PC, one per kernel path, in a process that may crash."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from pytest_autodeploy.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.reference import LITERT_PATHS, PATHS
from pytest_autodeploy.reference.child import Child, ChildDiedError, ChildTimeoutError
from pytest_autodeploy.reference.worker import Message, decode, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs

Outputs = dict[str, tuple["NDArray[Any]", ...]]

CACHED_RUNS = 8
LONGEST_REASON = 300


class _PathError(Exception):
    """One kernel path cannot; the others may."""


class Reference:
    """Runs ``model`` through LiteRT's kernel ``paths`` in one long-lived child process.

    ``paths``: of ref, optimized, xnnpack, and tensorflow (extra ``tensorflow``, imported only when
    named here). ``timeout_s`` bounds each ``run``. Raises MissingExtra; ValueError for a path that
    does not exist.
    """

    def __init__(
        self, model: Model, *, paths: Sequence[str] = LITERT_PATHS, timeout_s: float = 120
    ) -> None:
        unknown = set(paths) - set(PATHS)
        if unknown or not paths:
            raise ValueError(f"no kernel path {sorted(unknown)}; valid are {', '.join(PATHS)}")
        if "tensorflow" in paths and importlib.util.find_spec("tensorflow") is None:
            raise MissingExtra("the kernel path 'tensorflow'", "tensorflow")
        self._model = model
        self._paths = tuple(path for path in PATHS if path in paths)
        self._timeout_s = timeout_s
        self._child: Child | None = None
        self._unprepared: deque[str] = deque()
        self._unusable: dict[str, str] = {}
        self._runs: dict[str, tuple[Outputs, dict[str, str]]] = {}
        self._failed: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def failed_paths(self) -> Mapping[str, str]:
        """Per kernel path that failed in the last ``run``: the reason."""
        return MappingProxyType(self._failed)

    def versions(self) -> dict[str, str]:
        """Version per package that runs the paths."""
        packages = []
        if set(self._paths) & set(LITERT_PATHS):
            packages.append("ai-edge-litert")
        if "tensorflow" in self._paths:
            packages.append("tensorflow")
        return {package: importlib.metadata.version(package) for package in packages}

    def start(self) -> None:
        """Start the process and let it prepare every path, without waiting for it."""
        self._started()

    def _started(self) -> Child:
        if self._child is not None:
            return self._child
        self._child = Child()
        self._unprepared = deque(path for path in self._paths if path not in self._unusable)
        model = self._message("model", payloads=[self._model.content])
        prepare = [self._message("prepare", path) for path in self._unprepared]
        self._child.post([model, *prepare])
        return self._child

    def run(self, inputs: Any) -> Outputs:
        """Per path, one array of shape (n, *tensor shape) per output; state starts fresh.

        ``inputs``: those of a run on the board, a number of random ones, or arrays.
        Identical inputs are not run again. A path that fails is left out and told by
        ``failed_paths``. Raises ReferenceFailed when none is left, when the time is over, or when
        the process was killed from outside.
        """
        from pytest_autodeploy.reference.inputs import as_inputs

        inputs = as_inputs(inputs, self._model)
        key = _digest(inputs)
        if key not in self._runs:
            run = self._run_paths(inputs)
            self._runs[key] = run
            if len(self._runs) > CACHED_RUNS:
                del self._runs[next(iter(self._runs))]
        outputs, self._failed = self._runs[key]
        return dict(outputs)

    def close(self) -> None:
        """End the process. Idempotent; another ``run`` starts it again."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _run_paths(self, inputs: Inputs) -> tuple[Outputs, dict[str, str]]:
        until = time.monotonic() + self._timeout_s
        payloads = [encode(array) for array in inputs.arrays]
        outputs: Outputs = {}
        failed: dict[str, str] = {}
        for path in self._paths:
            try:
                outputs[path] = self._run_path(path, payloads, until)
            except _PathError as reason:
                failed[path] = str(reason)
        if not outputs:
            raise ReferenceFailed(f"the PC cannot run {self._model.name}: {_reasons(failed)}")
        return outputs, failed

    def _run_path(self, path: str, payloads: list[bytes], until: float) -> tuple[NDArray[Any], ...]:
        self._prepare(until)
        if path in self._unusable:
            raise _PathError(self._unusable[path])
        results = self._exchange(path, self._message("run", path, payloads), until)
        outputs = tuple(map(decode, results))
        for output in outputs:
            output.setflags(write=False)
        return outputs

    def _prepare(self, until: float) -> None:
        """Wait until every path is prepared or known to be unusable."""
        self.start()
        while self._unprepared:
            path = self._unprepared.popleft()
            try:
                self._exchange(path, None, until)
            except _PathError as reason:
                self._unusable[path] = str(reason)
            self.start()

    def _exchange(self, path: str, request: Message | None, until: float) -> list[bytes]:
        """Send the request, if any, and take the next reply, which is about ``path``."""
        child = self._started()
        engine = "TensorFlow" if path == "tensorflow" else "LiteRT"
        try:
            if request is not None:
                child.send(request, until - time.monotonic())
            header, payloads = child.receive(until - time.monotonic())
        except BaseException as error:  # Ctrl-C too: it leaves half a message in the pipes
            self.close()
            raise self._explained(error, engine, path) from None
        if "error" in header:
            raise _PathError(" ".join(str(header["error"]).split())[:LONGEST_REASON])
        return payloads

    def _explained(self, error: BaseException, engine: str, path: str) -> BaseException:
        if isinstance(error, ChildTimeoutError):
            return ReferenceFailed(
                f"{self._model.name}: {engine} did not finish (path {path})",
                seconds=self._timeout_s,
                hint="allow it more time, or fewer inputs",
            )
        if isinstance(error, ChildDiedError) and error.crashed:
            return _PathError(f"{engine} {error}")
        if isinstance(error, ChildDiedError):
            return ReferenceFailed(
                f"{self._model.name}: {engine} {error} (path {path})",
                hint="it was killed from outside; is the memory of this PC full?",
            )
        return error

    def _message(self, op: str, path: str | None = None, payloads: Sequence[bytes] = ()) -> Message:
        # The child's own deadline is the longer one: this side's is to be the one that is told.
        return {"op": op, "path": path, "limit_s": 2 * self._timeout_s + 10}, list(payloads)


def _digest(inputs: Inputs) -> str:
    digest = hashlib.sha256()
    for array in inputs.arrays:
        digest.update(f"{array.dtype.str} {array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _reasons(failed: Mapping[str, str]) -> str:
    if len(set(failed.values())) == 1:
        return f"{next(iter(failed.values()))} ({', '.join(failed)})"
    return "; ".join(f"{path}: {reason}" for path, reason in failed.items())
