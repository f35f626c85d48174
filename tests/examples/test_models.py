"""The models that the examples ship are what they are said to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import check_runnable, load_model
from tests.helpers.support import MODELS

DIGITS, KWS = MODELS / "digits_cnn.tflite", MODELS / "kws_ds_cnn.tflite"

SEPARABLE_BLOCK = [("DEPTHWISE_CONV_2D", 72_000), ("CONV_2D", 512_000)]
LAYERS_WITH_MACS = [
    ("CONV_2D", 320_000),
    *(4 * SEPARABLE_BLOCK),
    ("FULLY_CONNECTED", 768),
]
"""The rows of the application note's table that have MACs, by their full operator names."""

FEATURE_MAP = (1, 25, 5, 64)


@pytest.fixture
def kws() -> Model:
    return load_model(KWS)


def test_kws_has_the_layers_of_the_table_in_their_order(kws: Model) -> None:
    ending = ["AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"]
    convolutions = ["CONV_2D"] + 4 * ["DEPTHWISE_CONV_2D", "CONV_2D"]
    assert [operator.name for operator in kws.operators] == convolutions + ending


def test_kws_layers_have_the_macs_of_the_table(kws: Model) -> None:
    assert [(op.name, op.macs) for op in kws.operators if op.macs] == LAYERS_WITH_MACS
    assert kws.macs == 2_656_768


def test_kws_layers_have_the_shapes_of_keyword_spotting(kws: Model) -> None:
    assert [tensor.shape for tensor in kws.inputs] == [(1, 49, 10, 1)]
    expected = [FEATURE_MAP] * 9 + [(1, 1, 1, 64), (1, 64), (1, 12), (1, 12)]
    assert [operator.outputs[0].shape for operator in kws.operators] == expected


@pytest.mark.parametrize("path", [DIGITS, KWS], ids=lambda path: path.stem)
def test_example_model_is_int8_and_runs_on_any_board(path: Path) -> None:
    model = load_model(path)
    check_runnable(model)
    assert {tensor.dtype for tensor in (*model.inputs, *model.outputs)} == {"int8"}


@pytest.mark.parametrize(("path", "kilobytes"), [(DIGITS, 30), (KWS, 60)])
def test_example_model_is_small(path: Path, kilobytes: int) -> None:
    assert path.stat().st_size < kilobytes * 1024


def test_digits_inputs_file_holds_the_inputs_of_the_model_and_nothing_else() -> None:
    with np.load(MODELS / "digits_test.npz") as file:
        assert file.files == [tensor.name for tensor in load_model(DIGITS).inputs]


def test_digits_recognises_its_test_set() -> None:
    with np.load(MODELS / "digits_test.npz") as file:
        (images,) = file.values()
    labels = np.load(MODELS / "digits_test_labels.npy")
    assert np.mean(classify(DIGITS, images) == labels) > 0.97


def classify(path: Path, images: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """The class that LiteRT gives each image, quantised as the model's input says."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_path=str(path),
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    interpreter.allocate_tensors()
    image_in, scores_out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    scale, zero_point = image_in["quantization"]
    classes = []
    for image in np.clip(np.round(images / scale) + zero_point, -128, 127).astype(np.int8):
        interpreter.set_tensor(image_in["index"], image[np.newaxis])
        interpreter.invoke()
        classes.append(interpreter.get_tensor(scores_out["index"]).argmax())
    return np.array(classes)
