"""Models of many kinds and names, and characterisations of them that no board was needed for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_autodeploy.catalog.boards import BoardSpec, board_spec
from pytest_autodeploy.deliver.characterization import (
    Characterization,
    Example,
    ExampleTensor,
    Place,
    details_of,
)
from pytest_autodeploy.model.graph import Model, Tensor
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from tests.helpers.tflite_builder import (
    add_two_inputs,
    build_model,
    constant,
    fully_connected,
    operator,
    relu,
    running_sum,
    single_operator,
    svdf,
    tensor,
)


def lstm() -> bytes:
    """An LSTM in float32 with its state in variables, and a running sum in a resource variable."""
    random = np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return constant(random.normal(size=shape), "float32")

    x, y = tensor((1, 3, 2), name="x"), tensor((1, 3, 4), name="y")
    gates = [weights(4, 2) for _ in range(4)] + [weights(4, 4) for _ in range(4)]
    biases = [weights(4) for _ in range(4)]
    states = [tensor((1, 4), variable=True) for _ in range(2)]
    nothing = [None] * 3
    no_norm = [None] * 4
    inputs = [x, *gates, *nothing, *biases, None, None, *states, *no_norm]
    options = {"time_major": False, "fused_activation_function": 4}
    return single_operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options=options)


def two_outputs() -> bytes:
    """An int8 input that is split into an int32 and a bool output."""
    x = tensor((1, 4), "int8", scale=0.5, zero_point=-1, name="x")
    whole, positive = tensor((1, 4), "int32", name="whole"), tensor((1, 4), "bool", name="positive")
    zero = constant(np.full((1, 4), -1), "int8", scale=0.5, zero_point=-1)
    return build_model(
        operators=[
            operator("CAST", [x], [whole]),
            operator("GREATER", [x, zero], [positive]),
        ],
        inputs=[x],
        outputs=[whole, positive],
    )


def gather() -> bytes:
    """An input of int64 indices."""
    table = constant(np.arange(12).reshape(4, 3), "float32")
    at, row = tensor((1,), "int64", name="at"), tensor((1, 3), name="row")
    return single_operator("GATHER", [table, at], [row], options={"axis": 0})


MODELS = {
    "relu": relu(),
    "add-int8": add_two_inputs("int8"),
    "add_int16": add_two_inputs("int16"),
    "add.float.v1.2": add_two_inputs("float32"),
    "fully connected": fully_connected("int8"),
    "8bit": fully_connected("int8", depth=40, units=9),
    "größe": fully_connected("float32"),
    "モデル": running_sum(),
    "class": svdf(),
    'quote" and */ and \\': lstm(),
    "two\noutputs": two_outputs(),
    "int": gather(),
    "very_long_" * 30: relu((1, 2, 3)),
}
"""Contents by names; no two have the same operators and types."""


def load(content: bytes, folder: Path, name: str = "model") -> Model:
    """A loaded model, which may have a name that no file could have."""
    path = folder / "content.tflite"
    path.write_bytes(content)
    return replace(load_model(path), name=name)


def characterized(
    model: Model,
    outputs: dict[int, np.ndarray[Any, Any]] | None = None,
    *,
    board: BoardSpec | None = None,
    engine_version: str = "pc",
    source: str = "modelled",
) -> Characterization:
    """A characterisation with random inputs; outputs that are not given are zeros."""
    spec = board or board_spec("apollo4p_evb")
    inputs = random_inputs(model, 1, 1)
    given = outputs or {}
    place = Place(
        board=f"sim:{spec.name}",
        name=spec.name,
        core=spec.core,
        source=source,  # type: ignore[arg-type]  # one of the kinds
        engine="tflm",
        engine_version=engine_version,
        build_id="0123",
        clock="HP",
        model_memory="mram",
        arena_memory="dtcm",
    )
    example = Example(
        inputs=tuple(
            ExampleTensor(each.name, each.dtype, array.shape[1:], array[0].tobytes())
            for each, array in zip(model.inputs, inputs.arrays, strict=True)
        ),
        outputs=tuple(
            _expected(each, given.get(number)) for number, each in enumerate(model.outputs)
        ),
        path="ref",
        origin=inputs.origin,
        seed=inputs.seed,
    )
    return Characterization(
        details=details_of(model),
        arena_bytes=3000,
        arena_used_bytes=2500,
        resource_variables=model.resource_variables,
        resolver_methods=model.resolver_methods,
        place=place,
        example=example,
        agreement="bit-exact with ref, inferences: 1",
        tool_version="0.1.0",
    )


def _expected(each: Tensor, values: np.ndarray[Any, Any] | None) -> ExampleTensor:
    array = np.zeros(each.shape, each.dtype) if values is None else values
    floating = "float" in each.dtype
    unit, atol = ("real", 0.5) if floating else ("steps", 1.0)
    return ExampleTensor(
        each.name,
        each.dtype,
        each.shape,
        array.astype(each.dtype).tobytes(),
        unit,  # type: ignore[arg-type]  # one of both
        atol,
        0.0,
        "1 step",
    )
