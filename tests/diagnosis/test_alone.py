"""Every operator on its own: handed its inputs, it gives what it gives within the model."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.diagnosis.alone import operators_alone
from pytest_autodeploy.diagnosis.pc import PcSides
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from tests.helpers import tflite_builder as tflite
from tests.helpers.support import DIGITS, KWS

PATIENCE_S = 60


@pytest.mark.parametrize("path", [DIGITS, KWS], ids=lambda path: path.stem)
def test_operators_alone_give_what_they_give_within_the_model(path: Path) -> None:
    model = load_model(path)
    inputs = random_inputs(model, 1, 3)
    with PcSides(model, time.monotonic() + PATIENCE_S) as pc:
        within = {side: pc.tensors(side, inputs) for side in ("ref", "tflm")}
        given = {tensor.index: x for tensor, x in zip(model.inputs, inputs.arrays, strict=True)}
        for side, values in within.items():
            alone = pc.alone([side], {**given, **values})[side]
            assert list(alone) == list(values)
            for index, value in alone.items():
                np.testing.assert_array_equal(value, values[index])


def test_an_operator_is_left_out_when_an_input_of_it_is_not_given() -> None:
    model = load_model(DIGITS)
    inputs = random_inputs(model, 1, 3)
    given = {tensor.index: x for tensor, x in zip(model.inputs, inputs.arrays, strict=True)}
    with PcSides(model, time.monotonic() + PATIENCE_S) as pc:
        alone = pc.alone(["ref"], given)["ref"]
    assert list(alone) == [tensor.index for tensor in model.operators[0].outputs]


def test_operators_with_a_state_are_left_out(tmp_path: Path) -> None:
    """Of CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ADD and ASSIGN_VARIABLE only ADD can be alone."""
    path = tmp_path / "sum.tflite"
    path.write_bytes(tflite.running_sum())
    alone = operators_alone(load_model(path))
    assert [operator.name for operator in alone.model.operators] == ["ADD"]
    assert len(alone.reads) == 2


def test_a_model_of_nothing_but_states_has_no_operator_alone(tmp_path: Path) -> None:
    path = tmp_path / "custom.tflite"
    path.write_bytes(tflite.custom_operator("SignalDelay"))
    with pytest.raises(ModelError, match="every operator keeps a state"):
        operators_alone(load_model(path))
