"""The least arena of a model: what is alive at once, and never more than TFLM really takes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from pytest_autodeploy.model.arena import least_arena_bytes
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers.simulated_board import simulated_board
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflite_builder import build_model, constant, operator, tensor


def load(folder: Path, content: bytes) -> Model:
    path = folder / "m.tflite"
    path.write_bytes(content)
    return load_model(path)


def test_input_and_output_of_an_operator_are_alive_together(tmp_path: Path) -> None:
    x, y = tensor((1, 100), "int8"), tensor((1, 50), "int8")
    weights = constant([[1] * 100] * 50, "int8")
    content = build_model(
        operators=[operator("FULLY_CONNECTED", [x, weights], [y])], inputs=[x], outputs=[y]
    )

    assert least_arena_bytes(load(tmp_path, content)) == 150


def test_a_tensor_that_nobody_reads_any_more_needs_no_room(tmp_path: Path) -> None:
    chain = [tensor((1, size), "int8") for size in (10, 100, 20, 80)]
    operators = [operator("RELU", [a], [b]) for a, b in itertools.pairwise(chain)]
    content = build_model(operators=operators, inputs=chain[:1], outputs=chain[-1:])

    assert least_arena_bytes(load(tmp_path, content)) == 120


def test_a_shortcut_lives_until_it_is_read(tmp_path: Path) -> None:
    x, a, b, y = (tensor((1, 100), "int8") for _ in range(4))
    operators = [
        operator("RELU", [x], [a]),
        operator("RELU", [a], [b]),
        operator("ADD", [x, b], [y]),
    ]
    content = build_model(operators=operators, inputs=[x], outputs=[y])

    assert least_arena_bytes(load(tmp_path, content)) == 300


def test_outputs_and_variables_live_to_the_end(tmp_path: Path) -> None:
    x, early, late = (tensor((1, 100), "int8") for _ in range(3))
    state = tensor((1, 1000), "int8", variable=True)
    operators = [operator("RELU", [x], [early]), operator("ADD", [x, state], [late])]
    content = build_model(operators=operators, inputs=[x], outputs=[early, late])

    assert least_arena_bytes(load(tmp_path, content)) == 1300


@pytest.mark.parametrize("path", [DIGITS, KWS], ids=lambda path: path.stem)
def test_tflm_takes_more(tmp_path: Path, path: Path) -> None:
    with simulated_board(tmp_path) as board:
        board.flash(path.read_bytes())
        used = board.client.configure().arena_used_bytes

    assert 0.25 * used < least_arena_bytes(load_model(path)) < used
