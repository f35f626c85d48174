"""Small Keras models, made by TensorFlow in a process of its own, which takes seconds to start."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_tensorflow = pytest.mark.skipif(
    find_spec("tensorflow") is None, reason="needs the extra 'tensorflow'"
)

_MAKE = """
import sys
import keras

layers = [keras.Input((4,)), keras.layers.Dense(3, use_bias=False), keras.layers.Softmax()]
tiny = keras.Sequential(layers)
tiny.save(sys.argv[1] + "/tiny.keras")
tiny.export(sys.argv[1] + "/saved", verbose=False)

keras.utils.set_random_seed(1)
net = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(4, activation="relu")])
net.save(sys.argv[1] + "/net.keras")
"""


def make_models(folder: Path) -> None:
    """``tiny.keras`` (4 inputs, 3 classes), the same as the SavedModel ``saved``, ``net.keras``."""
    command = [sys.executable, "-W", "ignore", "-c", _MAKE, str(folder)]
    subprocess.run(command, check=True, timeout=600)
