"""The PC's side of data with labels: portions, nearest path, the same real values elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.metrics.accuracy.changed import changed_decisions
from pytest_autodeploy.metrics.accuracy.compare import compared
from pytest_autodeploy.metrics.accuracy.pc import inputs_for, pc_outputs
from pytest_autodeploy.metrics.records.accuracy import ChangedDecision
from pytest_autodeploy.model.graph import Model, Tensor
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import Inputs, as_inputs, random_inputs
from pytest_autodeploy.reference.labels import Labels
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.session.labelled import LabelledRun, side_of
from pytest_autodeploy.session.measured import RunResult
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import add_two_inputs, relu, running_sum, with_input_zero_point


def load(folder: Path, content: bytes, name: str = "model") -> Model:
    path = folder / f"{name}.tflite"
    path.write_bytes(content)
    return load_model(path)


@pytest.fixture
def told() -> list[tuple[int, int]]:
    """What the progress was told."""
    return []


@pytest.fixture(params=[DIGITS.read_bytes(), running_sum()], ids=["digits", "running_sum"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    """One without state, and one with."""
    return load(tmp_path, request.param)


@pytest.fixture
def reference(model: Model) -> Iterator[Reference]:
    """The PC side of the model."""
    with Reference(model) as running:
        yield running


@pytest.mark.parametrize("reset_each", [False, True])
def test_portions_give_what_one_run_gives(
    model: Model, reference: Reference, told: list[tuple[int, int]], reset_each: bool
) -> None:
    inputs = random_inputs(model, 30, 1)
    outputs, failed = pc_outputs(
        reference,
        model,
        inputs,
        0,
        reset_each=reset_each,
        progress=lambda _what, done, total: told.append((done, total)),
    )
    whole = reference.run(inputs, reset_each=reset_each and model.stateful)
    assert failed == {}
    assert all((outputs[path] == whole[path][0]).all() for path in ("ref", "optimized", "xnnpack"))
    assert told[-1] == (30, 30)
    assert (len(told) > 1) == (not model.stateful or reset_each)


def test_the_board_is_held_against_the_path_that_decides_as_it_does() -> None:
    scores = Tensor(0, 0, "scores", (1, 2), "float32")
    labels = Labels(np.array([0, 0, 1]), "labels")
    board, ref, xnnpack = (
        side_of(scores, np.eye(2)[classes], labels, Task())
        for classes in ([0, 1, 1], [0, 0, 1], [0, 1, 1])
    )
    run = LabelledRun(RunResult(Inputs((np.zeros(3),), "x"), ()), labels, Task(), board)
    found = compared(run, {"ref": ref, "xnnpack": xnnpack}, source="modelled", failed_paths={})
    assert (found.reference, found.drop, found.changed.tolist()) == ("xnnpack", 0, [])
    equal = compared(run, {"ref": ref, "xnnpack": ref}, source="modelled", failed_paths={})
    assert (equal.reference, equal.changed.tolist()) == ("ref", [1])
    assert changed_decisions(equal) == (
        ChangedDecision(sample=1, label=0, board=1, board_score=1.0, pc=0, pc_score=1.0),
    )


def test_real_values_are_quantised_for_each_model(tmp_path: Path) -> None:
    content = DIGITS.read_bytes()
    own, other = load(tmp_path, content), load(tmp_path, with_input_zero_point(content, 0), "other")
    inputs = as_inputs(np.full((1, 8, 8, 1), 0.25), own)
    assert inputs.arrays[0].flat[0] == -64
    assert inputs_for(inputs, own, other).arrays[0].flat[0] == 64


def test_stored_values_fit_only_models_that_store_alike(tmp_path: Path) -> None:
    content = DIGITS.read_bytes()
    own, other = load(tmp_path, content), load(tmp_path, with_input_zero_point(content, 0), "other")
    inputs = as_inputs(np.full((1, 8, 8, 1), 5, np.int8), own)
    assert inputs_for(inputs, own, own).arrays[0].flat[0] == 5
    with pytest.raises(InputsError, match="quantised in another way"):
        inputs_for(inputs, own, other)


def test_a_model_with_other_inputs_is_refused(tmp_path: Path) -> None:
    own, other = load(tmp_path, relu()), load(tmp_path, add_two_inputs("float32"), "other")
    with pytest.raises(InputsError, match="has 2 inputs, model has 1"):
        inputs_for(as_inputs(np.zeros((1, 4)), own), own, other)
