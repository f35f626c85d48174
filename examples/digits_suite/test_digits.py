"""What the digits classifier must do on its board: agree, classify, be fast and be small enough.

Run it on the simulated Apollo4 Plus EVB, or on an EVB that is plugged in:

    pytest examples/digits_suite
    pytest examples/digits_suite --evb apollo510_evb

Figures of different boards are never compared: the limits below hold on each board by itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pytest_autodeploy import Model, ModelSession, Reference

MODELS = Path(__file__).parent.parent / "models"
ACCURACY = 0.97
LARGEST_SHARE = 0.75

pytestmark = pytest.mark.tflite("../models/digits_cnn.tflite")


@pytest.fixture(scope="session")
def model_inputs() -> npt.NDArray[np.float32]:
    """Overrides the plugin's random inputs: in this file, ``run()`` runs the 360 test images."""
    images: npt.NDArray[np.float32] = np.load(MODELS / "digits_test.npz")["image"]
    return images


@pytest.fixture(scope="session")
def model_labels() -> npt.NDArray[np.uint8]:
    """The digit that each test image shows; the marker ``accuracy`` takes them from here."""
    digits: npt.NDArray[np.uint8] = np.load(MODELS / "digits_test_labels.npy")
    return digits


def accuracy(scores: npt.NDArray[np.int8], labels: npt.NDArray[np.uint8]) -> float:
    """Share of the images whose highest score is that of their label."""
    return float(np.mean(scores.reshape(len(labels), -1).argmax(axis=-1) == labels))


def test_is_quantised_from_input_to_output(tflite_model: Model) -> None:
    """Asks for the model alone, so it needs no board."""
    tensors = (*tflite_model.inputs, *tflite_model.outputs)
    assert [tensor.dtype for tensor in tensors] == ["int8", "int8"]


@pytest.mark.output_tolerance(lsb=1)
def test_computes_what_the_pc_computes(model_session: ModelSession) -> None:
    """The outputs of 20 random inputs are compared with the PC's after the test's body."""
    model_session.run(inputs=20)


@pytest.mark.latency_budget(ms=30)
@pytest.mark.memory_limit(arena_kb=8, model_kb=20)
def test_keeps_within_its_budget(model_session: ModelSession) -> None:
    """Nothing to do here: what a limit needs and the body did not measure is measured for it."""


@pytest.mark.output_tolerance(lsb=1)
def test_recognises_the_digits_of_the_test_set(
    model_session: ModelSession, model_labels: npt.NDArray[np.uint8]
) -> None:
    """``run()`` takes the inputs of ``model_inputs``; scores have the shape (360, 1, 10)."""
    scores = model_session.run().outputs[0]
    assert scores.shape == (360, 1, 10)
    assert accuracy(scores, model_labels) > ACCURACY


@pytest.mark.accuracy(min=ACCURACY, max_drop=0.001)
def test_is_as_accurate_as_on_the_pc(model_session: ModelSession) -> None:
    """Both sides run the test set; the report has the confusion matrix and what changed."""


def test_recognises_as_many_digits_as_the_pc(
    model_session: ModelSession, reference: Reference, model_labels: npt.NDArray[np.uint8]
) -> None:
    """The board is held against each of the PC's kernel paths, on the very same inputs."""
    result = model_session.run()
    on_the_pc = [accuracy(out[0], model_labels) for out in reference.run(result.inputs).values()]
    assert accuracy(result.outputs[0], model_labels) >= min(on_the_pc)


def test_recognises_one_image_given_by_the_test(
    model_session: ModelSession,
    model_inputs: npt.NDArray[np.float32],
    model_labels: npt.NDArray[np.uint8],
) -> None:
    """A test can also give its own arrays, of the shape (n, *shape of the input)."""
    (scores,) = model_session.run(inputs=model_inputs[:1]).outputs
    assert scores.argmax() == model_labels[0]


def test_takes_the_same_time_every_time(model_session: ModelSession) -> None:
    """The slowest inference is close to the median one."""
    latency = model_session.latency()
    assert latency.max_us <= 1.1 * latency.median_us


def test_no_layer_takes_most_of_the_time(model_session: ModelSession) -> None:
    """A layer that outgrows the others is where to look first."""
    layers = model_session.profile().layers
    slowest = max(layers, key=lambda layer: layer.us)
    share = slowest.us / sum(layer.us for layer in layers)
    assert share <= LARGEST_SHARE, f"{slowest.tag} takes {share:.0%} of the inference"
