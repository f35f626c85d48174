"""The reference runs of a model on the PC, one per set of kernels, in a process that may crash."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import ALL_PATHS, LITERT_PATHS, TENSOR_PATHS, TFLM_PATH
from pytest_autodeploy.base.versions import installed_version
from pytest_autodeploy.reference.messages import decode, encode
from pytest_autodeploy.reference.process import PathFailed, Process
from pytest_autodeploy.reference.tensors import Collected, made_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.child import Spares
    from pytest_autodeploy.reference.inputs import Inputs

Outputs = dict[str, tuple["NDArray[Any]", ...]]

CACHED_RUNS = 8

_PACKAGES = {"tensorflow": "tensorflow", TFLM_PATH: "tflite-micro"}
_EXTRAS = {"tensorflow": "tensorflow", TFLM_PATH: "sim"}


class Reference(Closing):
    """Runs ``model`` through LiteRT's kernel ``paths`` in one long-lived child process.

    ``paths``: of ref, optimized, xnnpack, tensorflow (extra ``tensorflow``) and tflm, which is TFLM
    on this PC (extra ``sim``); packages of extras are imported only when named here. ``timeout_s``
    bounds each ``run``. ``spares`` are where ``rest`` leaves the child, for other references.
    Raises MissingExtra; ValueError for a path that does not exist.
    """

    def __init__(
        self,
        model: Model,
        *,
        paths: Sequence[str] = LITERT_PATHS,
        timeout_s: float = 120,
        spares: Spares | None = None,
    ) -> None:
        _check_paths(paths, ALL_PATHS)
        self._model = model
        self._paths = tuple(path for path in ALL_PATHS if path in paths)
        self._process = Process(model, self._paths, timeout_s, spares=spares)
        self._runs: dict[tuple[str, bool], tuple[Outputs, dict[str, str]]] = {}
        self._failed: dict[str, str] = {}
        self._turn = threading.Lock()
        self._failed_ahead: dict[tuple[str, bool], ReferenceFailed] = {}

    @property
    def failed_paths(self) -> Mapping[str, str]:
        """Per set of kernels that failed in the last ``run``: the reason."""
        return MappingProxyType(self._failed)

    def versions(self) -> dict[str, str]:
        """Version per package that runs the paths."""
        packages = {_PACKAGES.get(path, "ai-edge-litert") for path in self._paths}
        return {package: installed_version(package) for package in sorted(packages)}

    def start(self) -> None:
        """Start the process and let it prepare every path, without waiting for it."""
        self._process.start()

    def begin(self, inputs: Inputs, *, reset_each: bool = False) -> None:
        """Run these inputs while something else is done; ``run`` then has or awaits the outputs.

        A failure is raised by that ``run``.
        """
        key = (inputs.sha256, reset_each)

        def run() -> None:
            try:
                self.run(inputs, reset_each=reset_each)
            except ReferenceFailed as error:
                self._failed_ahead[key] = error
            except Exception:  # the process was closed meanwhile
                return

        threading.Thread(target=run, daemon=True).start()

    def run(self, inputs: Any, *, reset_each: bool = False) -> Outputs:
        """Per path, one array of shape (n, *tensor shape) per output; state starts fresh.

        ``inputs``: those of a run on the board, a number of random ones, or arrays. State is kept
        from one inference to the next, unless ``reset_each`` starts every inference fresh.
        Identical inputs are not run again. A path that fails is left out and told by
        ``failed_paths``. Raises ReferenceFailed when none is left, when the time is over, or when
        the process was killed from outside.
        """
        from pytest_autodeploy.reference.inputs import as_inputs

        inputs = as_inputs(inputs, self._model)
        key = (inputs.sha256, reset_each)
        with self._turn:
            if error := self._failed_ahead.pop(key, None):
                raise error
            if key not in self._runs:
                run = self._run_paths(inputs, reset_each=reset_each)
                self._runs[key] = run
                if len(self._runs) > CACHED_RUNS:
                    del self._runs[next(iter(self._runs))]
            outputs, self._failed = self._runs[key]
        return dict(outputs)

    def run_tensors(
        self, inputs: Any, path: str, tensors: Sequence[int] | None = None
    ) -> dict[int, NDArray[Any]]:
        """What the operators of subgraph 0 make in every inference, on one path.

        ``path``: ref, optimized, xnnpack or tflm, whether or not it is one of ``paths``.
        ``tensors``: indices of some tensors, else all that operators make. Gives per index an array
        (n, *tensor shape), in the order in which they are made; state starts fresh and is kept from
        one inference to the next. Left out are tensors that cannot be read: those of a type that
        numpy lacks, and those that a delegate hides, which are found by filling every tensor with
        two patterns that an inference would have overwritten. Nothing of it is kept for later.

        Raises ValueError for a path or a tensor that does not exist, MissingExtra, and
        ReferenceFailed when the path cannot run, when the time is over, and when the outputs with
        kept tensors are not those of the path without.
        """
        from pytest_autodeploy.reference.inputs import as_inputs

        _check_paths([path], TENSOR_PATHS)
        indices = made_tensors(self._model, tensors)
        inputs = as_inputs(inputs, self._model)
        payloads = [encode(array) for array in inputs.arrays]
        collected = Collected(inputs.count)
        try:
            with self._turn:
                until = self._process.until()
                reply = self._process.ask("tensors", path, payloads, until, indices=indices)
                while collected.add(reply):
                    reply = self._process.receive(path, until)
        except PathFailed as reason:
            raise ReferenceFailed(
                f"the PC cannot give the tensors of {self._model.name} ({path} kernels): {reason}",
                hint=f"take another of {', '.join(TENSOR_PATHS)}",
            ) from None
        return collected.arrays

    def close(self) -> None:
        """End the process. Idempotent; another ``run`` starts it again."""
        self._process.close()

    def rest(self) -> None:
        """Give up the process, but not in the middle of a run; another ``run`` gets one again."""
        if self._turn.acquire(blocking=False):
            try:
                self._process.rest()
            finally:
                self._turn.release()

    def _run_paths(self, inputs: Inputs, *, reset_each: bool) -> tuple[Outputs, dict[str, str]]:
        until = self._process.until()
        payloads = [encode(array) for array in inputs.arrays]
        outputs: Outputs = {}
        failed: dict[str, str] = {}
        for path in self._paths:
            try:
                _, results = self._process.ask("run", path, payloads, until, reset=reset_each)
                outputs[path] = tuple(map(_read_only, map(decode, results)))
            except PathFailed as reason:
                failed[path] = str(reason)
        if not outputs:
            self._failed = failed
            raise ReferenceFailed(
                f"the PC cannot run {self._model.name}: {_reasons(failed)}",
                hint='compare with TFLM on the PC: output_tolerance(reference="tflm")',
            )
        return outputs, failed


def _check_paths(paths: Sequence[str], valid: Sequence[str]) -> None:
    """Raise ValueError for a path that does not exist, MissingExtra for one without its package."""
    unknown = set(paths) - set(valid)
    if unknown or not paths:
        raise ValueError(f"no kernels {sorted(unknown)}; valid are {', '.join(valid)}")
    for path in paths:
        package = _PACKAGES.get(path)
        if package and importlib.util.find_spec(package.replace("-", "_")) is None:
            raise MissingExtra(f"the set of kernels {path!r}", _EXTRAS[path])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _reasons(failed: Mapping[str, str]) -> str:
    if len(set(failed.values())) == 1:
        return f"{next(iter(failed.values()))} ({', '.join(failed)})"
    return "; ".join(f"{path}: {reason}" for path, reason in failed.items())
