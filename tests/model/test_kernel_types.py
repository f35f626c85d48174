"""Which element types TFLM's kernels compute: told from the file alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.kernel_types import arithmetic
from pytest_autodeploy.model.load import check_runnable
from pytest_autodeploy.model.parse import parse
from tests.helpers import tflite_builder as build


@pytest.mark.parametrize(
    ("content", "words", "hint"),
    [
        (build.uint8_cast(), "TFLM has no kernel for CAST of uint8", "tf.int8"),
        (build.int64_cast(), "TFLM has no kernel for CAST to int64", "tf.int32"),
        (
            build.dynamic_range_weights(),
            r"FULLY_CONNECTED of float32 with int8 weights \(dynamic-range, int8 weights\)",
            "TFLITE_BUILTINS_INT8",
        ),
        (
            build.float16_weights(),
            r"DEQUANTIZE of float16 \(float16 weights\)",
            "TFLITE_BUILTINS_INT8",
        ),
        (
            build.single_operator(
                "RESIZE_BILINEAR",
                [build.tensor((1, 2, 2, 1), "int16"), build.constant([4, 4])],
                [build.tensor((1, 4, 4, 1), "int16")],
            ),
            "RESIZE_BILINEAR of int16",
            "full int8 rather than int16x8",
        ),
    ],
)
def test_operator_type_and_conversion_are_named(content: bytes, words: str, hint: str) -> None:
    with pytest.raises(ModelError, match=words) as raised:
        check_runnable(parse(Path("m.tflite"), content))
    assert hint in str(raised.value.hint)


def test_a_tensor_of_unknown_size_is_refused() -> None:
    x, hidden, y = (build.tensor(shape) for shape in ((1, 4), (-1, 4), (1, 4)))
    steps = [build.operator("RELU", [x], [hidden]), build.operator("RELU", [hidden], [y])]
    content = build.build_model(operators=steps, inputs=[x], outputs=[y])
    with pytest.raises(ModelError, match=r"has the shape \[-1, 4\], but TFLM needs every size"):
        check_runnable(parse(Path("m.tflite"), content))


def test_what_no_inference_reaches_is_not_judged() -> None:
    x, y, a, b = (build.tensor((1, 4), dtype) for dtype in ("float32", "float32", "uint8", "int8"))
    other = build.Subgraph([build.operator("CAST", [a], [b])], [a], [b])
    content = build.build_model(
        operators=[build.operator("RELU", [x], [y])],
        inputs=[x],
        outputs=[y],
        more_subgraphs=[other],
    )
    check_runnable(parse(Path("m.tflite"), content))


@pytest.mark.slow
def test_the_table_refuses_nothing_that_tflm_on_this_pc_runs() -> None:
    """Models of one operator, for 57 operators in nine types: no false refusal."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.helpers.kernel_trials"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    trials = json.loads(run.stdout)
    wrong = [trial for trial in trials if trial["refused"] and trial["runs"]]
    assert wrong == []
    found = [trial for trial in trials if trial["refused"]]
    missed = [trial for trial in trials if not trial["refused"] and not trial["runs"]]
    assert len(found) > 200
    assert len(missed) < 20  # among them models that are refused for another reason than the type


def test_the_arithmetic_of_a_model_is_that_of_its_weighted_operators() -> None:
    def of(content: bytes) -> str:
        return arithmetic(parse(Path("m.tflite"), content).operators)

    assert of(build.fully_connected("int8")) == "int8"
    assert of(build.fully_connected("float32")) == "float32"
    assert of(build.dynamic_range_weights()) == "float32 with int8 weights"
    assert of(build.relu()) == ""
    x, y = build.tensor((1, 2), "int16"), build.tensor((1, 1), "int16")
    weights = build.constant([[1, 2]], "int8")
    assert of(build.single_operator("FULLY_CONNECTED", [x, weights, None], [y])) == "int16x8"
