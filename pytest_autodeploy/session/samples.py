"""Samples on their way to a board and back: arrays as bytes, bytes as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.rpc.inference import Inferred


def sample_of(inputs: Inputs, number: int) -> list[bytes]:
    """The bytes of each input of a sample."""
    return [array[number].tobytes() for array in inputs.arrays]


def bytes_of_one(outputs: Sequence[np.ndarray]) -> list[int]:
    """The bytes of one sample in each of ``outputs``, of shape (n, *tensor shape)."""
    return [output.itemsize * math.prod(output.shape[1:]) for output in outputs]


def store(inferred: Inferred, number: int, outputs: Sequence[np.ndarray]) -> None:
    """Put the outputs of sample ``number`` into their place."""
    import numpy as np

    for output, data in zip(outputs, inferred.outputs, strict=True):
        output[number] = np.frombuffer(data, output.dtype).reshape(output.shape[1:])
