"""Keras models and SavedModels become `.tflite` files, by TensorFlow in its own process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError, MissingExtra, ModelError
from pytest_autodeploy.model import convert
from pytest_autodeploy.model.convert import is_convertible, to_tflite
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import check_runnable, load_model
from tests.helpers.keras_models import needs_tensorflow

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(keras_models: Path) -> Path:
    """A folder with tiny.keras and the SavedModel saved."""
    return keras_models


def converted(content: bytes, tmp_path: Path) -> Model:
    path = tmp_path / "converted.tflite"
    path.write_bytes(content)
    model = load_model(path)
    check_runnable(model)
    return model


@needs_tensorflow
def test_a_keras_file_becomes_a_float_model_of_batch_1(models: Path, tmp_path: Path) -> None:
    model = converted(to_tflite(models / "tiny.keras").content, tmp_path)
    assert [operator.name for operator in model.operators] == ["FULLY_CONNECTED", "SOFTMAX"]
    assert (model.inputs[0].shape, model.inputs[0].dtype) == ((1, 4), "float32")


@needs_tensorflow
def test_with_inputs_it_becomes_int8_throughout(models: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npy"
    np.save(inputs, np.random.default_rng(0).uniform(-2, 2, (16, 4)))
    model = converted(to_tflite(models / "tiny.keras", inputs).content, tmp_path)
    assert {tensor.dtype for tensor in (*model.inputs, *model.outputs)} == {"int8"}
    assert model.inputs[0].scale == pytest.approx(4 / 255, rel=0.05)


@needs_tensorflow
def test_a_saved_model_converts(models: Path, tmp_path: Path) -> None:
    assert is_convertible(models / "saved")
    assert converted(to_tflite(models / "saved").content, tmp_path).parameters == 4 * 3


@needs_tensorflow
def test_inputs_of_the_wrong_shape_are_refused(models: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npy"
    np.save(inputs, np.zeros((3, 5)))
    with pytest.raises(InputsError, match=r"inputs.npy: cannot reshape .* \[1, 4\]"):
        to_tflite(models / "tiny.keras", inputs)


@needs_tensorflow
def test_what_tensorflow_says_is_in_the_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.keras"
    broken.write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelError, match=r"TensorFlow could not convert it: ValueError: .*keras"):
        to_tflite(broken)


@needs_tensorflow
def test_a_conversion_has_a_deadline(models: Path) -> None:
    with pytest.raises(ModelError, match=r"had not converted it after 0.1 s"):
        to_tflite(models / "tiny.keras", timeout_s=0.1)


def test_without_tensorflow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "find_spec", lambda _: None)
    (tmp_path / "model.keras").touch()
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-autodeploy\[tensorflow\]'"):
        to_tflite(tmp_path / "model.keras")


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nothing.keras: there is no such file"):
        to_tflite(tmp_path / "nothing.keras")
    (tmp_path / "model.keras").touch()
    with pytest.raises(InputsError, match=r"nothing.npz: there is no such file"):
        to_tflite(tmp_path / "model.keras", tmp_path / "nothing.npz")


def test_only_keras_files_and_saved_models_are_convertible(tmp_path: Path) -> None:
    assert is_convertible(Path("model.keras"))
    assert is_convertible(Path("MODEL.H5"))
    assert not is_convertible(Path("model.tflite"))
    assert not is_convertible(tmp_path)
