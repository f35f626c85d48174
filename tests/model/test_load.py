"""What the static view of a `.tflite` file says, and which files it refuses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.graph import Model, Quantization
from pytest_autodeploy.model.load import check_runnable, load_model
from tests.helpers import tflite_builder as build

Load = Callable[[bytes], Model]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads content by way of a file."""

    def load(content: bytes) -> Model:
        path = tmp_path / "tiny model.tflite"
        path.write_bytes(content)
        return load_model(path)

    return load


def test_a_model_knows_its_file(load: Load) -> None:
    content = build.fully_connected()
    model = load(content)
    assert model.name == "tiny model"
    assert model.content == content
    assert model.size_bytes == len(content)
    assert model.sha256 == hashlib.sha256(content).hexdigest()
    assert model.description == "made by a test"


def test_inputs_and_outputs_have_shape_type_and_quantisation(load: Load) -> None:
    model = load(build.add_two_inputs("int8", (1, 4)))
    assert [tensor.name for tensor in model.inputs] == ["a", "b"]
    a, _ = model.inputs
    (total,) = model.outputs
    assert (a.shape, a.dtype, a.elements, a.bytes) == ((1, 4), "int8", 4, 4)
    assert (a.scale, a.zero_point) == (0.5, 3)
    assert (total.scale, total.zero_point) == (1.0, 1)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("int16", 8), ("float32", 16), ("bool", 4), ("int64", 32), ("int4", 2), ("complex64", 32)],
)
def test_bytes_follow_from_the_type(load: Load, dtype: str, size: int) -> None:
    x = build.tensor((1, 4), dtype)
    assert load(build.single_operator("RESHAPE", [x], [x])).inputs[0].bytes == size


def test_quantisation_for_each_channel_has_no_single_scale(load: Load) -> None:
    filters = build.constant([[1, 2], [3, 4]], "int8", scale=[0.5, 0.25], name="filters")
    x, y = build.tensor((1, 2)), build.tensor((1, 2))
    model = load(build.single_operator("FULLY_CONNECTED", [x, filters], [y]))
    (tensor,) = (tensor for tensor in model.tensors if tensor.name == "filters")
    assert tensor.quantization == Quantization((0.5, 0.25), (0, 0), 0)
    assert tensor.constant
    assert tensor.scale is None
    assert tensor.zero_point is None


def test_parameters_are_the_weights_and_not_shapes(load: Load) -> None:
    assert load(build.fully_connected(depth=8, units=4)).parameters == 8 * 4 + 4
    x, y = build.tensor((1, 4)), build.tensor((4,))
    reshape = build.single_operator("RESHAPE", [x, build.constant([4])], [y])
    assert load(reshape).parameters == 0


def test_an_omitted_optional_input_is_none(load: Load) -> None:
    x, y = build.tensor((1, 2)), build.tensor((1, 3))
    weights = build.constant([[0.0] * 2] * 3, "float32")
    model = load(build.single_operator("FULLY_CONNECTED", [x, weights, None], [y]))
    assert model.operators[0].inputs[2] is None


def test_options_have_names_and_the_schemas_defaults(load: Load) -> None:
    x, y = build.tensor((1, 4, 4, 1)), build.tensor((1, 2, 2, 1))
    filters = build.constant([[[[1.0]]]], "float32")
    options = {"padding": 1, "stride_w": 2, "stride_h": 2, "fused_activation_function": 3}
    model = load(build.single_operator("CONV_2D", [x, filters], [y], options=options))
    assert model.operators[0].options == {
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 2,
        "fused_activation_function": "RELU6",
        "dilation_w_factor": 1,
        "dilation_h_factor": 1,
    }


def test_resource_variables_are_counted_once_each(load: Load) -> None:
    model = load(build.running_sum())
    assert [op.name for op in model.operators].count("VAR_HANDLE") == 2
    assert model.resource_variables == 1
    check_runnable(model)


def test_an_open_batch_runs_as_one(load: Load) -> None:
    model = load(build.dynamic_batch())
    assert not model.inputs[0].dynamic
    check_runnable(model)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_an_ordinary_model_is_runnable(load: Load, dtype: str) -> None:
    check_runnable(load(build.add_two_inputs(dtype)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (build.custom_operator("MyOp"), "no kernel for custom operator 'MyOp'"),
        (build.without_kernel(), "no kernel for ATAN2"),
        (build.dynamic_shape(), "input 'x' has a dynamic shape"),
        (build.relu((4, 4), (-1, 4)), "input 'x' has a dynamic shape"),
        (build.string_input(), "tensor 'words' holds strings"),
    ],
    ids=["custom operator", "builtin operator", "dynamic", "dynamic batch of 4", "strings"],
)
def test_what_tflm_cannot_run_is_loaded_but_not_runnable(
    load: Load, content: bytes, words: str
) -> None:
    model = load(content)
    with pytest.raises(ModelError, match=words) as raised:
        check_runnable(model)
    assert "tiny model.tflite" in raised.value.what
    assert raised.value.hint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"not a model, just words\n", "is a text file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b"PK\x03\x04\x00\x00\x00\x00", "is a ZIP archive, such as a .keras model"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
        (b"\x1c\x00\x00\x00TFL2\x00\x00", "the identifier b'TFL2' where TFL3 must be"),
        (build.relu()[:-9], "damaged or cut short: .*outside of the file"),
        (build.relu()[:8], "damaged or cut short"),
        (build.vela_compiled(), "already compiled by Vela"),
        (build.build_model(operators=[], inputs=[], outputs=[], version=2), "has version 2"),
    ],
    ids=lambda value: value[-24:] if isinstance(value, str) else "",
)
def test_a_file_that_is_no_good_model_is_refused(load: Load, content: bytes, words: str) -> None:
    with pytest.raises(ModelError, match=words) as raised:
        load(content)
    assert "tiny model.tflite" in raised.value.what
    assert raised.value.hint


def test_a_missing_file_names_the_models_beside_it(tmp_path: Path) -> None:
    (tmp_path / "kws.tflite").write_bytes(build.relu())
    with pytest.raises(ModelError, match="there is no such file") as raised:
        load_model(tmp_path / "kwz.tflite")
    assert raised.value.hint == "models there: kws.tflite"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is a folder, not a \.tflite file"):
        load_model(tmp_path)
