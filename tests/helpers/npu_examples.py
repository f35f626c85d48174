"""Models and estimates for the tests of NPU estimates; no Vela is needed for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.npu.config_file import NpuSystem
from pytest_autodeploy.npu.evaluate import evaluate
from pytest_autodeploy.npu.results import Estimate
from tests.helpers.support import MODELS
from tests.helpers.tflite_builder import (
    OperatorSpec,
    TensorSpec,
    build_model,
    constant,
    operator,
    tensor,
)
from tests.helpers.vela_csv import LayerSpec, vela_output

SYSTEM = NpuSystem(
    "ethos-u55-128", "Embedded", "Shared", "my.ini", b"[x]", ("sram", "off_chip_flash")
)

FIRST = LayerSpec("first", 0, cycles=300, npu=280, sram=40, flash=90, macs=64, staging=64)
SECOND = LayerSpec("second", 4, cycles=100, npu=90, sram=10, flash=20, macs=32, staging=32)
MIXED = [
    FIRST,
    LayerSpec("first", 0),
    LayerSpec("fallback", 1, target="CPU", operator="Custom"),
    SECOND,
    LayerSpec("real", 5, target="CPU", operator="Dequantize"),
]
REASONS = {
    ("CUSTOM", "fallback"): "Unsupported opType",
    ("DEQUANTIZE", "real"): "Float32 is not supported\nuse INT8",
}


def model(content: bytes, name: str = "small") -> Model:
    """The static view of a model in memory."""
    return parse(Path(f"{name}.tflite"), content)


def example(name: str) -> Model:
    """One of the project's own models."""
    return load_model(MODELS / f"{name}.tflite")


def dense(x: TensorSpec, units: int, name: str) -> tuple[OperatorSpec, TensorSpec]:
    """A fully connected layer in int8, and its output."""
    weights = constant(np.ones((units, x.shape[-1])), "int8", scale=0.01, name=f"{name}_w")
    y = tensor((1, units), "int8", scale=0.05, name=name)
    return operator("FULLY_CONNECTED", [x, weights, None], [y]), y


def mixed_model(name: str = "first") -> bytes:
    """Dense, a custom operator, two reshapes, dense, dequantize: NPU, CPU, nothing, NPU, CPU."""
    x = tensor((1, 8), "int8", scale=0.05, name="x")
    one, y1 = dense(x, 8, name)
    y2 = tensor((1, 8), "int8", scale=0.05, name="fallback")
    y3 = tensor((1, 2, 4), "int8", scale=0.05, name="folded")
    y4 = tensor((1, 8), "int8", scale=0.05, name="flat")
    two, y5 = dense(y4, 4, "second")
    y6 = tensor((1, 4), "float32", name="real")
    operators = [
        one,
        operator("MyOperator", [y1], [y2], custom=True),
        operator("RESHAPE", [y2, constant([1, 2, 4])], [y3]),
        operator("RESHAPE", [y3, constant([1, 8])], [y4]),
        two,
        operator("DEQUANTIZE", [y5], [y6]),
    ]
    return build_model(operators=operators, inputs=[x], outputs=[y6])


def two_layers() -> bytes:
    """Two dense layers, of 64 and of 32 MACs."""
    x = tensor((1, 8), "int8", scale=0.05, name="x")
    one, y1 = dense(x, 8, "first")
    two, y2 = dense(y1, 4, "second")
    return build_model(operators=[one, two], inputs=[x], outputs=[y2])


def whole_estimate(system: NpuSystem = SYSTEM, name: str = "whole", **changes: Any) -> Estimate:
    """An estimate of two layers that both run on the NPU."""
    layers = [FIRST, LayerSpec("second", 1, cycles=100, npu=90, macs=32, staging=32)]
    output = vela_output(layers, 2, **changes)
    return evaluate(model(two_layers(), name), system, output, "5.2.0")


def mixed_estimate(*, summary: Mapping[str, object] | None = None, **changes: str) -> Estimate:
    """An estimate of the mixed model."""
    output = vela_output(MIXED, 6, reasons=REASONS, summary=summary, **changes)
    return evaluate(model(mixed_model(), "mixed"), SYSTEM, output, "5.2.0")


def cpu_estimate() -> Estimate:
    """An estimate of a model of which nothing runs on the NPU."""
    content = build_model(
        operators=[operator("RELU", [x := tensor((1, 4), name="x")], [y := tensor((1, 4))])],
        inputs=[x],
        outputs=[y],
    )
    layers = [LayerSpec("tensor_1", target="CPU", operator="Relu")]
    reasons = {("RELU", "tensor_1"): "Float32 is not supported"}
    output = vela_output(layers, 1, reasons=reasons)
    return evaluate(model(content, "real"), SYSTEM, output, "5.2.0")
