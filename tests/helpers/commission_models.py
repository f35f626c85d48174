"""The models of ``autodeploy commission`` that no training made: random weights, always the same.

``python -m tests.helpers.commission_models`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from tests.helpers.support import ROOT
from tests.helpers.tflite_builder import build_model, constant, operator, single_operator, tensor

FOLDER = ROOT / "examples" / "commission"
ECHO_BYTES = 2048


def echo() -> bytes:
    """One int8 RESHAPE: what goes in comes out, so that every byte of the link is checked."""
    x = tensor((1, ECHO_BYTES), "int8", scale=1.0, name="x")
    y = tensor((ECHO_BYTES // 32, 32), "int8", scale=1.0, name="y")
    shape = constant([ECHO_BYTES // 32, 32], name="shape")
    return single_operator(
        "RESHAPE", [x, shape], [y], options={"new_shape": [ECHO_BYTES // 32, 32]}
    )


def float_dense() -> bytes:
    """Two FULLY_CONNECTED in float32 with a LOGISTIC behind each."""
    random = np.random.default_rng(1)
    sizes = (32, 24, 8)
    x = tensor((1, sizes[0]), name="x")
    operators, value = [], x
    for number, (depth, units) in enumerate(pairwise(sizes)):
        weights = constant(random.normal(0, 0.3, (units, depth)), "float32", name=f"w{number}")
        bias = constant(random.normal(0, 0.1, units), "float32", name=f"b{number}")
        sums = tensor((1, units), name=f"sums{number}")
        made = tensor((1, units), name=f"made{number}")
        operators += [
            operator("FULLY_CONNECTED", [value, weights, bias], [sums]),
            operator("LOGISTIC", [sums], [made]),
        ]
        value = made
    return build_model(operators=operators, inputs=[x], outputs=[value])


def int8_svdf() -> bytes:
    """An SVDF of rank 1 in int8 with a memory of four inferences, as keyword spotters have them."""
    random = np.random.default_rng(2)
    units, depth, memory = 16, 20, 4
    x = tensor((1, depth), "int8", scale=0.05, zero_point=-3, name="x")
    feature = constant(random.integers(-127, 128, (units, depth)), "int8", scale=0.005, name="f")
    time = constant(random.integers(-9999, 10_000, (units, memory)), "int16", scale=1e-4, name="t")
    bias = constant(random.integers(-99, 100, units), "int32", scale=1e-7, name="bias")
    state = tensor((1, units * memory), "int16", scale=0.001, variable=True, name="state")
    y = tensor((1, units), "int8", scale=0.05, zero_point=4, name="y")
    options = {"rank": 1, "fused_activation_function": 1}
    return single_operator("SVDF", [x, feature, time, bias, state], [y], options=options)


MODELS: Mapping[str, bytes] = {
    "echo.tflite": echo(),
    "float_dense.tflite": float_dense(),
    "int8_svdf.tflite": int8_svdf(),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in MODELS.items():
        (FOLDER / name).write_bytes(content)
