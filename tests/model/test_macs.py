"""Multiply-accumulates per operator; each expectation is the loop nest of the kernel, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers import tflite_builder as build


def macs_of(
    tmp_path: Path,
    name: str,
    inputs: list[tuple[int, ...] | None],
    output: tuple[int, ...],
    **how: Any,
) -> int | None:
    """MACs of a model with one operator whose tensors have these shapes."""
    tensors = [None if shape is None else build.tensor(shape) for shape in inputs]
    return load(tmp_path, build.single_operator(name, tensors, [build.tensor(output)], **how)).macs


def load(tmp_path: Path, content: bytes) -> Model:
    path = tmp_path / "one.tflite"
    path.write_bytes(content)
    return load_model(path)


CASES: dict[str, tuple[str, list[tuple[int, ...] | None], tuple[int, ...], int]] = {
    "convolution": ("CONV_2D", [(1, 9, 9, 3), (8, 3, 3, 3)], (1, 7, 7, 8), 7 * 7 * 8 * 27),
    "batch of 4": ("CONV_2D", [(4, 9, 9, 3), (8, 3, 3, 3)], (4, 7, 7, 8), 4 * 7 * 7 * 8 * 27),
    "4 groups": ("CONV_2D", [(1, 5, 5, 8), (16, 3, 3, 2)], (1, 5, 5, 16), 5 * 5 * 16 * 9 * 2),
    "depthwise": (
        "DEPTHWISE_CONV_2D",
        [(2, 5, 5, 4), (1, 3, 3, 8)],
        (2, 5, 5, 8),
        2 * 5 * 5 * 8 * 9,
    ),
    "3-D": ("CONV_3D", [(2, 5, 5, 5, 3), (2, 3, 3, 3, 8)], (2, 4, 3, 3, 8), 2 * 36 * 8 * 18 * 3),
    "transposed": (
        "TRANSPOSE_CONV",
        [(4,), (8, 3, 3, 5), (2, 4, 4, 5)],
        (2, 8, 8, 8),
        2 * 4 * 4 * 5 * 9 * 8,
    ),
    "transposed 3-D": (
        "CONV_3D_TRANSPOSE",
        [(5,), (2, 3, 3, 8, 5), (1, 2, 4, 4, 5)],
        (1, 4, 8, 8, 8),
        2 * 4 * 4 * 5 * 18 * 8,
    ),
    "rows": ("FULLY_CONNECTED", [(3, 16), (10, 16)], (3, 10), 3 * 16 * 10),
    "rank 3": ("FULLY_CONNECTED", [(1, 5, 16), (10, 16)], (1, 5, 10), 5 * 16 * 10),
    "rank 1": ("FULLY_CONNECTED", [(16,), (10, 16)], (10,), 16 * 10),
    "flattened": ("FULLY_CONNECTED", [(2, 4, 4), (10, 16)], (2, 10), 2 * 16 * 10),
    "matrices": ("BATCH_MATMUL", [(2, 3, 4, 5), (2, 3, 5, 6)], (2, 3, 4, 6), 6 * 4 * 5 * 6),
    "broadcast": ("BATCH_MATMUL", [(1, 4, 5), (7, 5, 6)], (7, 4, 6), 7 * 4 * 5 * 6),
    "SVDF": ("SVDF", [(2, 10), (8, 10), (8, 6), None, (2, 48)], (2, 4), 2 * 8 * (10 + 6)),
    "RNN": ("RNN", [(2, 5), (7, 5), (7, 7), (7,), (2, 7)], (2, 7), 2 * (35 + 49)),
}


@pytest.mark.parametrize("case", CASES)
def test_macs(tmp_path: Path, case: str) -> None:
    name, inputs, output, expected = CASES[case]
    assert macs_of(tmp_path, name, inputs, output) == expected


def test_a_transposed_left_operand_sums_over_its_other_dimension(tmp_path: Path) -> None:
    options = {"adj_x": True}
    shapes: list[tuple[int, ...] | None] = [(2, 5, 4), (2, 5, 6)]
    assert macs_of(tmp_path, "BATCH_MATMUL", shapes, (2, 4, 6), options=options) == 2 * 4 * 5 * 6


LSTM: list[tuple[int, ...] | None] = [
    (2, 7, 3),  # 2 sequences of 7 steps of 3 values, into 4 cells
    *[(4, 3)] * 4,
    *[(4, 4)] * 4,
    *[None] * 3,
    *[(4,)] * 4,
    *[None] * 2,
    (2, 4),
    (2, 4),
]


def test_an_lstm_uses_each_weight_once_for_each_step(tmp_path: Path) -> None:
    macs = macs_of(tmp_path, "UNIDIRECTIONAL_SEQUENCE_LSTM", LSTM, (2, 7, 4))
    assert macs == 2 * 7 * (4 * 4 * 3 + 4 * 4 * 4)


def test_an_lstm_without_input_gate_costs_less_and_with_projection_more(tmp_path: Path) -> None:
    coupled = [None if index in (1, 5, 12) else shape for index, shape in enumerate(LSTM)]
    projected = [(5, 4) if index == 16 else shape for index, shape in enumerate(LSTM)]
    name = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    assert macs_of(tmp_path, name, coupled, (2, 7, 4)) == 14 * 3 * (12 + 16)
    assert macs_of(tmp_path, name, projected, (2, 7, 5)) == 14 * (4 * (12 + 16) + 20)


def test_a_basic_lstm_has_all_weights_in_one_tensor(tmp_path: Path) -> None:
    shapes: list[tuple[int, ...] | None] = [(2, 3), (2, 4), (16, 7), (16,), (2, 4)]
    assert macs_of(tmp_path, "LSTM", shapes, (2, 4), options={"kernel_type": 1}) == 2 * 16 * 7


@pytest.mark.parametrize("name", ["ADD", "AVERAGE_POOL_2D", "SOFTMAX", "MEAN", "QUANTIZE", "TILE"])
def test_operators_without_macs_have_zero(tmp_path: Path, name: str) -> None:
    assert macs_of(tmp_path, name, [(1, 4, 4, 2)], (1, 4, 4, 2)) == 0


@pytest.mark.parametrize("name", ["BIDIRECTIONAL_SEQUENCE_LSTM", "RFFT2D", "STABLEHLO_DOT_GENERAL"])
def test_work_without_a_formula_is_unknown(tmp_path: Path, name: str) -> None:
    model = load(tmp_path, build.single_operator(name, [build.tensor((2, 2))], []))
    assert model.macs is None
    assert model.known_macs == 0
    assert model.unknown_operators == (name,)


def test_a_custom_operator_is_unknown_even_to_tflm(tmp_path: Path) -> None:
    assert load(tmp_path, build.custom_operator("SignalRfft")).macs is None


def test_unknown_work_makes_the_models_macs_unknown_and_keeps_the_known(tmp_path: Path) -> None:
    x, y, z = build.tensor((1, 8)), build.tensor((1, 4)), build.tensor((1, 4))
    weights = build.constant([[1.0] * 8] * 4, "float32")
    steps = [
        build.operator("FULLY_CONNECTED", [x, weights], [y]),
        build.operator("MyOperator", [y], [z], custom=True),
    ]
    model = load(tmp_path, build.build_model(operators=steps, inputs=[x], outputs=[z]))
    assert (model.macs, model.known_macs) == (None, 32)
    assert model.unknown_operators == ("MyOperator",)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("CONV_2D", [(1, 9, 9, 3), (3, 3)]),
        ("FULLY_CONNECTED", [(1, 7), (4, 16)]),
        ("FULLY_CONNECTED", [(1, 7), None]),
        ("BATCH_MATMUL", [(4,), (4,)]),
        ("SVDF", [(1, 4)]),
    ],
)
def test_shapes_that_do_not_fit_are_unknown(
    tmp_path: Path, name: str, shapes: list[tuple[int, ...] | None]
) -> None:
    assert macs_of(tmp_path, name, shapes, (1, 4)) is None


def test_a_dynamic_operand_is_unknown(tmp_path: Path) -> None:
    x = build.tensor((1, 1, 8), signature=(1, -1, 8))
    weights, y = build.tensor((4, 8)), build.tensor((1, 1, 4))
    assert load(tmp_path, build.single_operator("FULLY_CONNECTED", [x, weights], [y])).macs is None


def test_an_lstm_of_exactly_16_inputs_has_no_projection(tmp_path: Path) -> None:
    """Inputs at the end may be left out altogether: the projection is number 16."""
    gates = [*[(4, 2)] * 4, *[(4, 4)] * 4]
    inputs: list[tuple[int, ...] | None] = [(1, 3, 2), *gates, None, None, None, *[(4,)] * 4]
    assert len(inputs) == 16
    found = macs_of(tmp_path, "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, (1, 3, 4))
    assert found == 3 * 4 * (4 * 2 + 4 * 4)


@pytest.mark.parametrize(
    ("name", "inputs", "output"),
    [
        ("CONV_2D", [(1, 9, 9, 3), (8, 3, 3, 3)], (1, 7, 7, 9)),
        ("DEPTHWISE_CONV_2D", [(1, 5, 5, 4), (1, 3, 3, 8)], (1, 5, 5, 4)),
        ("TRANSPOSE_CONV", [(4,), (8, 3, 3, 5), (2, 4, 4, 6)], (2, 8, 8, 8)),
        ("FULLY_CONNECTED", [(3, 15), (10, 16)], (3, 10)),
        ("BATCH_MATMUL", [(5,), (5, 6)], (6,)),
        ("SVDF", [(1, 4), (8, 5), (8, 3)], (1, 8)),
        ("SVDF", [(1, 4), (8, 4), (7, 3)], (1, 8)),
    ],
)
def test_shapes_that_contradict_each_other_have_no_macs(
    tmp_path: Path, name: str, inputs: list[tuple[int, ...] | None], output: tuple[int, ...]
) -> None:
    assert macs_of(tmp_path, name, inputs, output) is None
