"""The inputs of a model's inferences: random, from a file, or given by a test."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.short_repr import shapes, short
from pytest_autodeploy.reference.named_arrays import arrays_by_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model

DEFAULT_SEED = 42


@dataclass(frozen=True, eq=False)
class Inputs:
    """What ``count`` inferences are run on.

    ``arrays``: one per input tensor, of shape (n, *tensor shape) and the tensor's dtype. ``origin``
    says where they come from, such as ``random, seed 42`` or ``file x.npz``; ``seed`` is None when
    they are not random. ``given`` are the values before they were fitted to the model, None for
    random ones.
    """

    arrays: tuple[NDArray[Any], ...]
    origin: str
    seed: int | None = None
    given: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return short(self, arrays=shapes(self.arrays), origin=self.origin)

    @property
    def count(self) -> int:
        """How many inferences these are for."""
        return len(self.arrays[0])

    @property
    def sha256(self) -> str:
        """Hash of types, shapes and values, in hexadecimal."""
        digest = hashlib.sha256()
        for array in self.arrays:
            digest.update(f"{array.dtype.str} {array.shape};".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()


def random_inputs(model: Model, count: int, seed: int) -> Inputs:
    """``count`` random samples for every input; sample i of a seed does not depend on ``count``.

    Integers are uniform over the whole range of their dtype, both ends included; but integers that
    are not quantised, in a model that looks up rows by an index that is computed (GATHER,
    GATHER_ND, EMBEDDING_LOOKUP), are uniform over the indices that the smallest table has. Floats
    are uniform in [-1, 1), bools are fair coins.

    So that outputs are not saturated in all of them, of four samples of floats or quantised
    integers the second has blocks of one value each, and the fourth is 4 times nearer to the zero
    point. Raises InputsError.
    """
    from pytest_autodeploy.reference.random_values import random_arrays

    if count < 1:
        raise InputsError(
            f"the number of inputs must be at least 1, not {count}",
            hint="--tflite-runs N says how many random inputs are made",
        )
    return Inputs(random_arrays(model, count, seed), f"random, seed {seed}", seed)


def load_inputs(path: Path, model: Model) -> Inputs:
    """The samples of a file.

    ``.npz``: one array per input, named as the tensors, or input_0, input_1, ..., or arr_0, arr_1,
    ...; ``.npy``: one array, for models with one input; ``.csv``: one sample a row, the flattened
    inputs one after the other. Shapes and values: see ``as_inputs``; the columns of an input are
    stored values when all are written as integers, real values otherwise. Raises InputsError.
    """
    from pytest_autodeploy.reference.input_files import read_arrays

    return _fit(read_arrays(path, model), model, f"file {path.name}")


def as_inputs(value: Any, model: Model, seed: int | None = None) -> Inputs:
    """Inputs from what a test gives.

    A number of random samples; Inputs; the path of a file; an array for a model with one input; or
    a sequence of arrays in the order of the inputs, or a mapping by tensor name (or input_0, ...).

    Shapes: (n, *tensor shape); (n, *tensor shape without its first dimension) when that is 1; or a
    single sample. Integers are stored values as they are; real values are quantised for integer
    inputs, rounded half away from zero and clipped, as the QUANTIZE operator does. Raises
    InputsError for what does not fit.
    """
    import numpy as np

    if isinstance(value, int) and not isinstance(value, bool):
        return random_inputs(model, value, DEFAULT_SEED if seed is None else seed)
    if isinstance(value, str | Path):
        return load_inputs(Path(value), model)
    if isinstance(value, Inputs):
        return replace(_fit(value.arrays, model, value.origin, value.seed), given=value.given)
    if isinstance(value, np.ndarray):
        return _fit((value,), model, GIVEN)
    if isinstance(value, Mapping):
        return _fit(arrays_by_name(value, model, GIVEN), model, GIVEN)
    if isinstance(value, Sequence):
        return _fit(tuple(value), model, GIVEN)
    raise InputsError(f"{GIVEN}: {type(value).__name__} is neither a number, arrays nor a file")


GIVEN = "given by the test"


def _fit(arrays: Sequence[Any], model: Model, origin: str, seed: int | None = None) -> Inputs:
    from pytest_autodeploy.reference.fit import fit

    if len(arrays) != len(model.inputs):
        raise InputsError(
            f"{origin}: {len(arrays)} arrays for {len(model.inputs)} inputs; "
            "give one array per input, with the samples along its first dimension"
        )
    fitted = tuple(
        fit(array, tensor, f"{origin}, input {number} {tensor.name!r}")
        for number, (array, tensor) in enumerate(zip(arrays, model.inputs, strict=True))
    )
    counts = [len(array) for array in fitted]
    if len(set(counts)) > 1:
        raise InputsError(f"{origin}: the inputs have different numbers of samples: {counts}")
    return Inputs(fitted, origin, seed, tuple(arrays))
