"""One interpreter of the tflite-micro package, with one model and one arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.imports import import_package

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.model.graph import Model

    Array = np.ndarray[Any, Any]

# fmt: off
DTYPES = frozenset({
    "bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64",
})
# fmt: on
"""What the package takes and gives; it refuses, or crashes on, uint16, int4 and others."""

LEAST_KEPT_BYTES = 9 * 1024
"""Below this, TFLM crashes in place of saying that it cannot keep all tensors in the arena."""


def import_runtime() -> None:
    """Import the package tflite-micro. Raises BrokenPackage."""
    import_package("tflite_micro", "tflite-micro")


class Tflm:
    """A model that is ready to run; its methods raise what the package raises.

    With ``keep`` every tensor keeps its values, but TFLM does not tell its use of the arena.
    """

    def __init__(self, model: Model, arena_bytes: int, *, keep: bool) -> None:
        from tflite_micro import runtime

        # To count these the package parses the whole file in Python, whenever it makes an
        # interpreter: most of its time (6 ms for KWS), and a search for an arena makes many.
        runtime.count_resource_variables = lambda _content: model.resource_variables
        config = runtime.InterpreterConfig
        self._interpreter: Any = runtime.Interpreter.from_bytes(
            model.content,
            [],
            arena_size=arena_bytes,
            # The keyword is spelt like that in the package. One configuration at a time: the one
            # that keeps tensors does not record allocations.
            intrepreter_config=config.kPreserveAllTensors if keep else config.kAllocationRecording,
        )

    def run(self, inputs: Sequence[Array]) -> None:
        """One inference."""
        for index, array in enumerate(inputs):
            self._interpreter.set_input(array, index)
        self._interpreter.invoke()

    def output(self, index: int) -> Array:
        """An output of the latest inference."""
        output: Array = self._interpreter.get_output(index)
        return output

    def tensor(self, index: int) -> Array:
        """A kept tensor of subgraph 0; one without memory or of another type crashes."""
        tensor: Array = self._interpreter.GetTensor(index, 0)["tensor_data"]
        return tensor

    def input_details(self, index: int) -> dict[str, Any]:
        """Element type and shape of an input."""
        details: dict[str, Any] = self._interpreter.get_input_details(index)
        return details

    def output_details(self, index: int) -> dict[str, Any]:
        """Element type and shape of an output."""
        details: dict[str, Any] = self._interpreter.get_output_details(index)
        return details

    def print_allocations(self) -> None:
        """Write the use of the arena to file descriptor 2."""
        self._interpreter.print_allocations()

    def reset(self) -> None:
        """Variables and states as before the first inference, but for CALL_ONCE."""
        self._interpreter.reset()
