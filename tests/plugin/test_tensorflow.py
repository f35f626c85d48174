"""TensorFlow in the plugin: Keras models converted on the fly, and its interpreter as reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.keras_models import needs_tensorflow

pytestmark = [pytest.mark.slow, needs_tensorflow]


@pytest.fixture
def keras_model(keras_models: Path) -> bytes:
    """A small Keras model."""
    return (keras_models / "net.keras").read_bytes()


def test_a_keras_model_is_converted_to_int8_with_representative_inputs(
    pytester: pytest.Pytester, keras_model: bytes
) -> None:
    Path("net.keras").write_bytes(keras_model)
    np.save("inputs.npy", np.random.default_rng(1).uniform(-1, 1, (20, 6)).astype(np.float32))
    pytester.makepyfile(
        "import sys\n"
        "def test_it(model_session, tflite_model):\n"
        "    assert tflite_model.inputs[0].dtype == 'int8'\n"
        "    assert model_session.run().inputs.count == 20\n"
        "    assert 'tensorflow' not in sys.modules\n"
    )
    result = pytester.runpytest_subprocess("--tflite", "net.keras", "--tflite-inputs", "inputs.npy")
    result.assert_outcomes(passed=6)


def test_a_keras_model_stays_float_without_inputs_and_tensorflow_can_be_the_reference(
    pytester: pytest.Pytester, keras_model: bytes
) -> None:
    Path("net.keras").write_bytes(keras_model)
    reference = ("--tflite-reference", "tensorflow", "-k", "outputs")
    result = pytester.runpytest_subprocess("--tflite", "net.keras", "-v", *reference)
    result.assert_outcomes(passed=1, deselected=4)
    result.stdout.fnmatch_lines(["Output agreement *tensorflow*"])


def test_a_broken_keras_file_is_one_error(pytester: pytest.Pytester) -> None:
    Path("net.keras").write_bytes(b"junk")
    result = pytester.runpytest_subprocess("--tflite", "net.keras")
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(["*net.keras*"])
    result.stdout.no_fnmatch_line("*Traceback*")
