"""Models of one operator in many types: which the table refuses, and which TFLM on this PC runs.

``python -m tests.helpers.kernel_trials`` prints a list of (operator, dtype, refused, runs) in JSON.
Each model runs in a child of its own, for TFLM may crash.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.kernel_types import type_refusals
from pytest_autodeploy.model.parse import parse
from tests.helpers.tflite_builder import TensorSpec, constant, single_operator, tensor

DTYPES = ["float32", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool", "float16"]
SHAPE = (1, 2, 2, 4)

Case = Callable[[str], bytes]


def _spec(shape: Sequence[int], dtype: str) -> TensorSpec:
    return tensor(shape, dtype, scale=0.5 if dtype in ("int8", "int16", "uint8") else None)


def _case(
    name: str,
    shapes: Sequence[Sequence[int]] = (SHAPE,),
    made: Sequence[int] = SHAPE,
    *,
    before: Sequence[TensorSpec] = (),
    after: Sequence[TensorSpec] = (),
    outputs: int = 1,
    dtype: str | None = None,
    options: dict[str, Any] | None = None,
    kind: str | None = None,
) -> Case:
    """A model of the operator in a type; ``dtype`` is that of its output where it has its own."""

    def build(values: str) -> bytes:
        inputs = [*before, *(_spec(shape, values) for shape in shapes), *after]
        results = [_spec(made, dtype or values) for _ in range(outputs)]
        return single_operator(name, inputs, results, options=options, options_type=kind)

    return build


def _cases() -> dict[str, Case]:
    plain = "ABS CEIL COS EXP FLOOR LOG NEG ROUND SIN SQRT SQUARE RSQRT RELU RELU6 ELU HARD_SWISH"
    cases = {name: _case(name) for name in f"{plain} ZEROS_LIKE LOGICAL_NOT".split()}
    pairs = "ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE FLOOR_DIV FLOOR_MOD ADD_N"
    cases |= {name: _case(name, [SHAPE, SHAPE]) for name in pairs.split()}
    compared = "EQUAL NOT_EQUAL LESS GREATER LESS_EQUAL GREATER_EQUAL"
    cases |= {name: _case(name, [SHAPE, SHAPE], dtype="bool") for name in compared.split()}
    window = {"stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        cases[name] = _case(name, options=window, kind="Pool2DOptions")
    for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL"):
        cases[name] = _case(name, made=(1, 4), after=[constant([1, 2])], kind="ReducerOptions")
    for name in ("ARG_MAX", "ARG_MIN"):
        options = {"output_type": 2}
        cases[name] = _case(
            name, made=(1, 2, 2), after=[constant(3)], dtype="int32", options=options
        )
    flat, row, two = [(1, 4)], (1, 4), [(2, 4)]
    pads = constant([[0, 0], [0, 0], [0, 0], [1, 1]])
    squares = [constant([2, 2]), constant([[0, 0], [0, 0]])]
    block = {"block_size": 2}
    cases |= {
        "L2_NORMALIZATION": _case("L2_NORMALIZATION", kind="L2NormOptions"),
        "LEAKY_RELU": _case("LEAKY_RELU", options={"alpha": 0.5}),
        "CAST": _case("CAST", dtype="float32"),
        "DEQUANTIZE": _case("DEQUANTIZE", dtype="float32"),
        "QUANTIZE": _case("QUANTIZE", dtype="int8"),
        "EXPAND_DIMS": _case("EXPAND_DIMS", made=(1, *SHAPE), after=[constant(0)]),
        "PAD": _case("PAD", made=(1, 2, 2, 6), after=[pads]),
        "MIRROR_PAD": _case("MIRROR_PAD", made=(1, 2, 2, 6), after=[pads], options={"mode": 1}),
        "TRANSPOSE": _case("TRANSPOSE", after=[constant([0, 1, 2, 3])]),
        "CONCATENATION": _case("CONCATENATION", flat * 2, (1, 8), options={"axis": 1}),
        "PACK": _case("PACK", flat * 2, (2, 1, 4), options={"axis": 0, "values_count": 2}),
        "UNPACK": _case("UNPACK", two, (4,), outputs=2, options={"axis": 0, "num": 2}),
        "SPLIT": _case(
            "SPLIT", two, row, before=[constant(0)], outputs=2, options={"num_splits": 2}
        ),
        "SLICE": _case("SLICE", two, row, after=[constant([0, 0]), constant([1, 4])]),
        "STRIDED_SLICE": _case(
            "STRIDED_SLICE",
            two,
            row,
            after=[constant([0, 0]), constant([1, 4]), constant([1, 1])],
        ),
        "GATHER": _case("GATHER", two, row, after=[constant([0])]),
        "GATHER_ND": _case("GATHER_ND", two, row, after=[constant([[0]])]),
        "DEPTH_TO_SPACE": _case("DEPTH_TO_SPACE", made=(1, 4, 4, 1), options=block),
        "SPACE_TO_DEPTH": _case("SPACE_TO_DEPTH", made=(1, 1, 1, 16), options=block),
        "BATCH_TO_SPACE_ND": _case(
            "BATCH_TO_SPACE_ND", [(4, 1, 1, 1)], (1, 2, 2, 1), after=squares
        ),
        "SPACE_TO_BATCH_ND": _case(
            "SPACE_TO_BATCH_ND", [(1, 2, 2, 1)], (4, 1, 1, 1), after=squares
        ),
        "CUMSUM": _case("CUMSUM", flat, row, after=[constant(1)]),
        "FILL": _case("FILL", [()], (2, 2), before=[constant([2, 2])]),
        "SELECT_V2": _case("SELECT_V2", flat * 2, row, before=[tensor(row, "bool")]),
        "BATCH_MATMUL": _case("BATCH_MATMUL", [(1, 4, 4)] * 2, (1, 4, 4)),
    }
    for name in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        cases[name] = _case(name, made=(1, 4, 4, 4), after=[constant([4, 4])])
    return cases


def _runs(model: Model) -> bool:
    """Whether TFLM prepares and runs the model on ones."""
    child = os.fork()
    if child == 0:
        import numpy as np

        from pytest_autodeploy.sim.tflm import Tflm

        try:
            tflm = Tflm(model, 1 << 20, keep=False)
            tflm.run([np.ones(tensor.shape, tensor.dtype) for tensor in model.inputs])
        except Exception:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def trials() -> list[dict[str, Any]]:
    """Every case in every type."""
    found = []
    for name, build in _cases().items():
        for dtype in DTYPES:
            model = parse(Path("m.tflite"), build(dtype))
            refused = any(type_refusals(model.operators))
            runs = _runs(model)
            found.append({"operator": name, "dtype": dtype, "refused": refused, "runs": runs})
    return found


if __name__ == "__main__":
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from tflite_micro import runtime  # noqa: F401  # once, for all children

    sys.stdout.write(json.dumps(trials()))
