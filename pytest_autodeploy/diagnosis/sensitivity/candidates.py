"""Inputs that may tell more than values from the whole range: quiet, sparse, smooth, ramps, levels.

A candidate is known by its family, its number and the seed: it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.reference.random_values import random_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Tensor

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Draw = Callable[[np.random.Generator, tuple[int, ...], int], Floats]

WIDEST = 8.0
"""Real inputs are tried up to this magnitude: what a model expects is not in its file."""


def _quiet(rng: np.random.Generator, shape: tuple[int, ...], number: int) -> Floats:
    """Uniform, a half to 1/64 of the range."""
    return rng.uniform(-1, 1, shape) / 2.0 ** (1 + number % 6)


def _noise(rng: np.random.Generator, shape: tuple[int, ...], number: int) -> Floats:
    """Normal around the zero point."""
    return np.clip(rng.normal(0, 1 / 2.0 ** (2 + number % 5), shape), -1, 1)


def _sparse(rng: np.random.Generator, shape: tuple[int, ...], number: int) -> Floats:
    """The zero point but for a few elements."""
    share = (0.02, 0.05, 0.1, 0.3)[number % 4]
    return np.where(rng.random(shape) < share, rng.uniform(-1, 1, shape), 0)


def _ramp(rng: np.random.Generator, shape: tuple[int, ...], _number: int) -> Floats:
    """Waves along every dimension, of any length, phase and height."""
    whole: Floats = np.zeros(shape)
    for axis, size in enumerate(shape):
        if size > 1:
            turns, phase, height = rng.uniform(0.25, 4), rng.uniform(0, 1), rng.uniform(-1, 1)
            wave = 2 * np.abs(2 * ((np.arange(size) / size * turns + phase) % 1) - 1) - 1
            whole += height * wave.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return whole / max(1.0, float(np.abs(whole).max(initial=0)))


def _level(rng: np.random.Generator, shape: tuple[int, ...], _number: int) -> Floats:
    """One value everywhere, with a little noise."""
    return np.clip(rng.uniform(-1, 1) + rng.normal(0, 0.03, shape), -1, 1)


def _smooth(rng: np.random.Generator, shape: tuple[int, ...], number: int) -> Floats:
    """Blocks of one value each, as the parts of a picture have."""
    whole = np.asarray(rng.uniform(-1, 1, [-(-size // 8) for size in shape])) / (1 + number % 3)
    for axis, size in enumerate(shape):
        block = -(-size // whole.shape[axis])
        whole = np.repeat(whole, block, axis).take(range(size), axis)
    return whole


FAMILIES: Mapping[str, Draw] = {
    "quiet": _quiet,
    "noise": _noise,
    "sparse": _sparse,
    "ramp": _ramp,
    "level": _level,
    "smooth": _smooth,
}
"""Each draws values from -1 to 1, of which 0 stands for the zero point."""

RANDOM, SAMPLE = "random", "sample"
"""The inputs of a run that is given none, and those of a data set."""

Name = tuple[str, int]
"""The family of a candidate, and its number in it."""


def candidates(
    model: Model, names: Sequence[Name], seed: int, samples: Sequence[Array] = ()
) -> tuple[Array, ...]:
    """The candidates of these names, one array (n, *tensor shape) for each input of the model."""
    drawn = [_one(model, family, number, seed, samples) for family, number in names]
    return tuple(np.concatenate(arrays) for arrays in zip(*drawn, strict=True))


def _one(
    model: Model, family: str, number: int, seed: int, samples: Sequence[Array]
) -> list[Array]:
    if family == SAMPLE:
        return [array[number : number + 1] for array in samples]
    usual = [array[number:] for array in random_arrays(model, number + 1, seed)]
    if family == RANDOM:
        return usual
    place = [*FAMILIES].index(family)
    return [
        _drawn(np.random.default_rng([seed, at, place, number]), tensor, array, family, number)
        for at, (tensor, array) in enumerate(zip(model.inputs, usual, strict=True))
    ]


def _drawn(
    rng: np.random.Generator, tensor: Tensor, usual: Array, family: str, number: int
) -> Array:
    """Values of the family; of plain integers, such as indices, and bools the usual ones."""
    if tensor.dtype.startswith("float"):
        wide = WIDEST ** rng.uniform(0, 1)
        real: Array = (wide * FAMILIES[family](rng, usual.shape, number)).astype(usual.dtype)
        return real
    if tensor.quantization is None or usual.dtype.kind not in "iu":
        return usual
    ends, zero = np.iinfo(usual.dtype), tensor.zero_point or 0
    values = FAMILIES[family](rng, usual.shape, number)
    stored = zero + np.where(values > 0, values * (ends.max - zero), values * (zero - ends.min))
    clipped: Array = np.clip(np.rint(stored), ends.min, ends.max).astype(usual.dtype)
    return clipped
