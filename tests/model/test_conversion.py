"""Conversions: kept by their content, never running code, fixed to a batch of 1."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model import conversion
from pytest_autodeploy.model.conversion import load_converted
from pytest_autodeploy.model.convert import Converted, to_tflite
from pytest_autodeploy.model.find import find_models
from pytest_autodeploy.model.keras_config import HostileModel, loops, refuse_code
from pytest_autodeploy.reference.input_files import read_arrays
from tests.helpers import tflite_builder as build
from tests.helpers.keras_models import needs_tensorflow

pytestmark = pytest.mark.slow

_HOSTILE = """
import pathlib, sys
import keras

marker = str(pathlib.Path(sys.argv[1], "marker"))
layers = keras.layers
body = layers.Lambda(lambda x: (open(marker, "w").close(), x)[1], name="harmless")
inner = keras.Sequential([layers.Input((4,)), body])
model = keras.Sequential([layers.Input((4,)), layers.Dense(3), inner] if False else
                         [layers.Input((4,)), inner, layers.Dense(3)])
for suffix in ("keras", "h5"):
    model.save(pathlib.Path(sys.argv[1], f"hostile.{suffix}"))
pathlib.Path(marker).unlink(missing_ok=True)
"""

_OTHERS = """
import sys
import keras
import tensorflow as tf

layers = keras.layers
left, right = layers.Input((4,), name="left"), layers.Input((2,), name="right")
both = layers.Dense(3)(layers.Concatenate()([left, right]))
keras.Model([right, left], both).save(sys.argv[1] + "/two.keras")

net = keras.Sequential([layers.Input((6, 2)), layers.LSTM(3, name="memory"), layers.Dense(2)])
net.save(sys.argv[1] + "/lstm.keras")

class Open(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def __call__(self, x):
        return {"y": tf.nn.relu(tf.reshape(x, [tf.shape(x)[0], 2, 2]))}

module = Open()
tf.saved_model.save(module, sys.argv[1] + "/open", signatures=module.__call__)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a hostile model in two formats, and others."""
    folder = tmp_path_factory.mktemp("keras")
    for script in (_HOSTILE, _OTHERS):
        command = [sys.executable, "-W", "ignore", "-c", script, str(folder)]
        subprocess.run(command, check=True, timeout=600, capture_output=True)
    return folder


@needs_tensorflow
@pytest.mark.parametrize("name", ["hostile.keras", "hostile.h5"])
def test_the_code_of_a_lambda_layer_is_never_run(made: Path, name: str) -> None:
    with pytest.raises(ModelError, match=r"Python code in it .*Lambda 'harmless'") as raised:
        to_tflite(made / name)
    assert "never run" in str(raised.value)
    assert not (made / "marker").exists()


@needs_tensorflow
def test_two_inputs_are_found_by_the_names_of_the_keras_model(made: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    given = {"left": random.uniform(-1, 1, (5, 4)), "right": random.uniform(-9, 9, (5, 2))}
    np.savez(tmp_path / "in.npz", left=given["left"], right=given["right"])
    (tmp_path / "results").mkdir()
    model = load_converted(made / "two.keras", tmp_path / "in.npz", tmp_path / "results")
    assert model.origin == "converted from two.keras to int8 with 5 samples"
    for tensor, values in zip(model.inputs, read_arrays(tmp_path / "in.npz", model), strict=True):
        side = "left" if "left" in tensor.name else "right"
        assert np.array_equal(values, given[side])
        assert tensor.shape == (1, *given[side].shape[1:])
        # the inputs of a CONCATENATION get one scale: that of the wider one
        assert tensor.scale == pytest.approx(np.ptp(given["right"]) / 255, rel=0.1)


@needs_tensorflow
def test_an_open_batch_of_a_saved_model_becomes_1(made: Path, tmp_path: Path) -> None:
    model = load_converted(made / "open", None, tmp_path / "nowhere")
    assert [tensor.shape for tensor in (*model.inputs, *model.outputs)] == [(1, 4), (1, 2, 2)]
    assert not any(tensor.dynamic for tensor in model.tensors)
    assert model.origin == "converted from open to float"


@needs_tensorflow
def test_a_crash_of_the_converter_names_the_layer_to_change(made: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.random.default_rng(0).uniform(-1, 1, (4, 6, 2)))
    with pytest.raises(ModelError, match="unroll=True to LSTM 'memory'"):
        to_tflite(made / "lstm.keras", tmp_path / "in.npy")


def test_layers_with_loops_are_known_unless_they_are_unrolled(tmp_path: Path) -> None:
    import zipfile

    def layer(name: str, **config: object) -> dict[str, object]:
        return {"class_name": name, "config": {"name": f"my_{name.lower()}", **config}}

    inner = {"class_name": "Functional", "config": {"layers": [layer("GRU", unroll=True)]}}
    document = {"class_name": "Sequential", "config": {"layers": [layer("LSTM"), inner]}}
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(document))
    assert loops(path) == ["LSTM 'my_lstm'"]
    refuse_code(path)
    document["config"] = {"layers": [{"class_name": "builtins>Lambda", "config": {}}]}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(document))
    with pytest.raises(HostileModel, match="Lambda"):
        refuse_code(path)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The sources that were really converted."""
    calls: list[Path] = []

    def converts(source: Path, inputs: Path | None) -> Converted:
        calls.append(source)
        return Converted(build.fully_connected(), 7 if inputs else 0)

    monkeypatch.setattr(conversion, "to_tflite", converts)
    return calls


def test_a_conversion_is_kept_beside_the_results_until_its_source_changes(
    tmp_path: Path, counted: list[Path]
) -> None:
    source, results = tmp_path / "net.keras", tmp_path / "results"
    source.write_bytes(b"one")
    results.mkdir()
    first, again = (load_converted(source, None, results) for _ in range(2))
    assert first.path == again.path
    assert first.path.is_relative_to(results / "converted")
    assert first.name == "net"
    assert len(counted) == 1
    source.write_bytes(b"two")
    assert load_converted(source, None, results).path != first.path
    assert len(counted) == 2


def test_other_inputs_are_another_conversion(tmp_path: Path, counted: list[Path]) -> None:
    source, inputs = tmp_path / "net.keras", tmp_path / "in.npy"
    source.write_bytes(b"one")
    inputs.write_bytes(b"samples")
    model = load_converted(source, inputs, tmp_path)
    assert model.origin == "converted from net.keras to int8 with 7 samples"
    assert load_converted(source, None, tmp_path).origin == "converted from net.keras to float"
    inputs.write_bytes(b"other samples")
    load_converted(source, inputs, tmp_path)
    assert len(counted) == 3


def test_without_a_results_folder_nothing_is_kept(tmp_path: Path, counted: list[Path]) -> None:
    (tmp_path / "net.keras").write_bytes(b"one")
    load_converted(tmp_path / "net.keras", None, tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["net.keras"]


def test_a_folder_gives_keras_files_that_have_no_tflite_beside(tmp_path: Path) -> None:
    for name in ("a.keras", "a.tflite", "b.keras", "c.h5"):
        (tmp_path / name).write_bytes(b"")
    found = find_models([tmp_path], tmp_path)
    assert [file.path.name for file in found] == ["a.tflite", "b.keras"]


def test_the_words_of_a_conversion() -> None:
    one = Converted(b"", 1)
    assert one.text("m.h5") == "converted from m.h5 to int8 with 1 sample"
    assert replace(one, samples=0).text("m.h5") == "converted from m.h5 to float"
