"""Models that are only what the comparison and the inputs look at: tensors and operators."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.model.graph import Model, Operator, Quantization, Tensor

INT8 = Quantization((0.5,), (3,), 0)


def tensor(
    name: str = "x",
    shape: tuple[int, ...] = (1, 4),
    dtype: str = "int8",
    quantization: Quantization | None = INT8,
    *,
    constant: bool = False,
) -> Tensor:
    """A tensor; quantised unless it is a float or told otherwise."""
    quantized = quantization if "int" in dtype else None
    return Tensor(0, 0, name, shape, dtype, quantized, constant=constant)


def model(
    *inputs: Tensor, outputs: tuple[Tensor, ...] = (), operators: tuple[Operator, ...] = ()
) -> Model:
    """A model with these inputs; it cannot be run."""
    return Model(
        name="stand_in",
        path=Path("stand_in.tflite"),
        content=b"",
        sha256="",
        operators=operators,
        tensors=(),
        inputs=inputs,
        outputs=outputs,
        parameters=0,
        resource_variables=0,
        subgraphs=1,
        description="",
    )


def operator(name: str, *inputs: Tensor, **options: int) -> Operator:
    """An operator that only has inputs and options."""
    return Operator(0, 0, name, False, None, inputs, (), None, options)
