"""LiteRT and TFLM on this PC, with tensors by their index in the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from pytest_autodeploy.model.graph import Model

Array = np.ndarray[Any, Any]
Values = dict[int, Array]


class Litert:
    """A model in LiteRT's reference kernels."""

    def __init__(self, model: Model, *, keep: bool = False) -> None:
        self._model = model
        self._interpreter = Interpreter(
            model_content=model.content,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=keep,
        )
        self._interpreter.allocate_tensors()

    def run(self, values: Values) -> Values:
        for given in self._model.inputs:
            self._interpreter.set_tensor(given.index, values[given.index])
        self._interpreter.invoke()
        return {output.index: self.tensor(output.index) for output in self._model.outputs}

    def tensor(self, index: int) -> Array:
        values: Array = self._interpreter.get_tensor(index)
        return values


class Tflm:
    """A model in TFLM."""

    def __init__(self, model: Model, *, keep: bool = False, arena_bytes: int = 1 << 18) -> None:
        from tflite_micro import runtime

        self._model = model
        self._interpreter = runtime.Interpreter.from_bytes(
            model.content,
            arena_size=arena_bytes,
            intrepreter_config=runtime.InterpreterConfig(int(keep)),
        )

    def run(self, values: Values) -> Values:
        for number, given in enumerate(self._model.inputs):
            self._interpreter.set_input(values[given.index], number)
        self._interpreter.invoke()
        outputs = enumerate(self._model.outputs)
        return {output.index: self._interpreter.get_output(number) for number, output in outputs}

    def tensor(self, index: int) -> Array:
        values: Array = self._interpreter.GetTensor(index, 0)["tensor_data"]
        return values


ENGINES: dict[str, type[Litert | Tflm]] = {"litert": Litert, "tflm": Tflm}
