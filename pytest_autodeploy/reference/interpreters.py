"""Interpreters of a model, by set of kernels, as the child process of the reference runs them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from pytest_autodeploy.base.imports import import_package

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

ARENAS = (64 << 20, 256 << 20, 1 << 30)
"""Bytes of TFLM's arena, from which the first is taken that is enough; what is not used of it
costs nothing. TFLM crashes when its arena is far too small, so the first is ample."""

_STDERR = 2
_SPOILS = (0x55, 0x2A)


class Interpreter(Protocol):
    """One model, ready to run, its state fresh."""

    def zeros(self) -> list[Array]:
        """A sample of zeros for each input."""

    def infer(self, samples: Sequence[Array]) -> None:
        """Run once, on one sample for each input."""

    def outputs(self) -> list[Array]:
        """The outputs of the latest inference."""

    def tensor(self, index: int) -> Array:
        """Any tensor of subgraph 0 after the latest inference; needs an interpreter that keeps."""

    def real(self, indices: Sequence[int], samples: Sequence[Array]) -> list[int]:
        """Those of the tensors that an inference makes and that can be read; it runs some."""


_MODULES = {
    "tensorflow": ("tensorflow", "tensorflow"),
    "tflm": ("tflite_micro", "tflite-micro"),
}
_LITERT = ("ai_edge_litert.interpreter", "ai-edge-litert")


def create(path: str, content: bytes, *, keep: bool = False) -> Interpreter:
    """An interpreter of these kernels; with ``keep`` every tensor has its own memory.

    Raises BrokenPackage when the path's package cannot be imported.
    """
    import_package(*_MODULES.get(path, _LITERT))
    return Tflm(content, keep=keep) if path == "tflm" else LiteRt(path, content, keep=keep)


class LiteRt:
    """LiteRT, or TensorFlow's copy of it."""

    def __init__(self, path: str, content: bytes, *, keep: bool = False) -> None:
        self._interpreter = _litert(path, content, keep)
        self._interpreter.allocate_tensors()
        self._inputs = [detail["index"] for detail in self._interpreter.get_input_details()]
        self._outputs = [detail["index"] for detail in self._interpreter.get_output_details()]
        self._empty = {detail["index"]: detail for detail in self._details() if _is_empty(detail)}

    def _details(self) -> list[dict[str, Any]]:
        interpreter = self._interpreter
        details: list[dict[str, Any]] = [
            *interpreter.get_input_details(),
            *interpreter.get_output_details(),
        ]
        return details

    def zeros(self) -> list[Array]:
        return [_zeros(detail) for detail in self._interpreter.get_input_details()]

    def infer(self, samples: Sequence[Array]) -> None:
        for index, sample in zip(self._inputs, samples, strict=True):
            if index not in self._empty:
                self._interpreter.set_tensor(index, sample)
        self._interpreter.invoke()

    def outputs(self) -> list[Array]:
        return [self.tensor(index) for index in self._outputs]

    def tensor(self, index: int) -> Array:
        import numpy as np

        if detail := self._empty.get(index):  # LiteRT has no memory for it, and says so
            return np.empty(detail["shape"], detail["dtype"])
        values: Array = self._interpreter.get_tensor(index)
        return values

    def real(self, indices: Sequence[int], samples: Sequence[Array]) -> list[int]:
        """A delegate (XNNPACK) leaves tensors that it hides without memory, or unwritten.

        Each tensor is filled with one pattern before one inference and with another before the
        next; a tensor that still shows both was not written.
        """
        self.infer(samples)
        untouched = set(indices)
        for spoil in _SPOILS:
            spoiled = {index: self._fill(index, spoil) for index in indices}
            self.infer(samples)
            untouched &= {index for index, made in spoiled.items() if made == self._bytes(index)}
        return [index for index in indices if index not in untouched]

    def _fill(self, index: int, spoil: int) -> bytes:
        """Fill a tensor; gives what it then holds, nothing when it has no memory."""
        import numpy as np

        with suppress(ValueError):
            old = self.tensor(index)
            new = np.frombuffer(bytes([spoil]) * old.nbytes, old.dtype).reshape(old.shape)
            self._interpreter.set_tensor(index, new)
        return self._bytes(index)

    def _bytes(self, index: int) -> bytes:
        with suppress(ValueError):
            return self.tensor(index).tobytes()
        return b""


def _zeros(detail: dict[str, Any]) -> Array:
    import numpy as np

    return np.zeros(detail["shape"], detail["dtype"])


def _is_empty(detail: dict[str, Any]) -> bool:
    return math.prod(int(size) for size in detail["shape"]) == 0


def _litert(path: str, content: bytes, keep: bool) -> Any:
    if path == "tensorflow":
        import tensorflow

        return tensorflow.lite.Interpreter(model_content=content, num_threads=1)
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    # The resolver chooses the kernels. LiteRT's environment variables do not switch XNNPACK off
    # (ai-edge-litert 2.3): it is a delegate of the default resolver.
    resolvers = {
        "ref": OpResolverType.BUILTIN_REF,
        "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        "xnnpack": OpResolverType.BUILTIN,
    }
    return Interpreter(
        model_content=content,
        experimental_op_resolver_type=resolvers[path],
        # Else a tensor gives its memory to a later one, whose values would be read as its own.
        experimental_preserve_all_tensors=keep,
        num_threads=1,
    )


class Tflm:
    """TFLM, built for this PC, from the package tflite-micro."""

    def __init__(self, content: bytes, *, keep: bool = False) -> None:
        from tflite_micro import runtime

        configs = runtime.InterpreterConfig
        # TFLM, too, plans tensors over one another unless it is told to keep them.
        config = configs.kPreserveAllTensors if keep else configs.kAllocationRecording
        self._interpreter = _tflm(content, config)
        file = runtime.schema_fb.Model.GetRootAs(content)
        self._inputs = range(file.Subgraphs(0).InputsLength())
        self._outputs = range(file.Subgraphs(0).OutputsLength())

    def zeros(self) -> list[Array]:
        interpreter = self._interpreter
        return [_zeros(interpreter.get_input_details(number)) for number in self._inputs]

    def infer(self, samples: Sequence[Array]) -> None:
        with _text_of_tflm():
            for number, sample in enumerate(samples):
                self._interpreter.set_input(sample, number)
            self._interpreter.invoke()

    def outputs(self) -> list[Array]:
        return [self._interpreter.get_output(number) for number in self._outputs]

    def tensor(self, index: int) -> Array:
        values: Array = self._interpreter.GetTensor(index, 0)["tensor_data"]
        return values

    def real(self, indices: Sequence[int], samples: Sequence[Array]) -> list[int]:
        """TFLM has no delegates; a type that its package does not know cannot be read."""
        self.infer(samples)
        return [index for index in indices if self._readable(index)]

    def _readable(self, index: int) -> bool:
        with suppress(RuntimeError, ValueError):
            self.tensor(index)
            return True
        return False


def _tflm(content: bytes, config: Any) -> Any:
    """An interpreter in the first arena that is enough."""
    from tflite_micro import runtime

    def interpreter(arena_bytes: int) -> Any:
        return runtime.Interpreter.from_bytes(content, [], arena_bytes, config)

    for arena_bytes in ARENAS[:-1]:
        with suppress(RuntimeError):
            return interpreter(arena_bytes)
    with _text_of_tflm():
        return interpreter(ARENAS[-1])


@contextmanager
def _text_of_tflm() -> Iterator[None]:
    """What TFLM writes to standard error, a file in this process, says more than what it raises."""
    start = os.lseek(_STDERR, 0, os.SEEK_END)
    try:
        yield
    except Exception as error:
        end = os.lseek(_STDERR, 0, os.SEEK_END)
        os.lseek(_STDERR, start, os.SEEK_SET)
        text = os.read(_STDERR, end - start).decode(errors="replace").split("\n")
        raise RuntimeError("; ".join(filter(None, text)) or str(error)) from None
