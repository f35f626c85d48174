"""The PC's side of data with labels: the same samples through every set of kernels, in portions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.errors import InputsError, ReferenceFailed
from pytest_autodeploy.reference.fit import fit
from pytest_autodeploy.reference.inputs import Inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Tensor
    from pytest_autodeploy.reference.runner import Reference

FIRST_PORTION = 4
PORTION_S = 10.0
"""About how long a portion of the samples may take on all paths: far below its deadline."""

PORTION_BYTES = 64 * 1024 * 1024


def pc_outputs(
    reference: Reference,
    model: Model,
    inputs: Inputs,
    output: int,
    *,
    reset_each: bool,
    progress: Callable[[str, int, int], None],
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """One output of ``model`` per set of kernels that ran all samples, of shape (n, *tensor shape).

    And why the other paths did not. The samples are run in portions, except that state that is
    carried keeps them together. Raises ReferenceFailed.
    """
    whole = model.stateful and not reset_each
    parts: list[dict[str, NDArray[Any]]] = []
    failed: dict[str, str] = {}
    for portion in _portions(inputs, whole=whole):
        by_path = reference.run(portion, reset_each=reset_each and model.stateful)
        failed |= reference.failed_paths
        parts.append({path: arrays[output] for path, arrays in by_path.items()})
        progress("inference on the PC", sum(len(_any(part)) for part in parts), inputs.count)
    paths = [path for path in parts[0] if path not in failed]
    if not paths:
        raise ReferenceFailed(f"no kernels of the PC ran all samples of {model.name}")
    return {path: np.concatenate([part[path] for part in parts]) for path in paths}, failed


def inputs_for(inputs: Inputs, own: Model, other: Model) -> Inputs:
    """The same real values for another model, stored as that one stores them. Raises InputsError.

    ``inputs`` are those of the model ``own``.
    """
    if len(own.inputs) != len(other.inputs):
        raise InputsError(
            f"{other.path}: has {len(other.inputs)} inputs, {own.name} has {len(own.inputs)}",
            hint="the accuracy limit's against= is another form of the same model",
        )
    given = inputs.arrays if inputs.given is None else inputs.given
    arrays = []
    for number, (values, mine, theirs) in enumerate(
        zip(given, own.inputs, other.inputs, strict=True)
    ):
        where = f"{other.name}, input {number} {theirs.name!r}"
        _refuse_stored(values, mine, theirs, f"{inputs.origin}: {where}")
        arrays.append(fit(values, theirs, f"{inputs.origin}: {where}"))
    return Inputs(tuple(arrays), inputs.origin)


def _refuse_stored(values: Any, mine: Tensor, theirs: Tensor, where: str) -> None:
    stored = mine.scale is not None and np.asarray(values).dtype.kind in "iu"
    alike = (mine.dtype, mine.quantization) == (theirs.dtype, theirs.quantization)
    if stored and not alike:
        raise InputsError(
            f"{where} is quantised in another way, and the inputs are stored {mine.dtype} values",
            hint="give real values (floats): each model then gets them in its own quantisation",
        )


def _portions(inputs: Inputs, *, whole: bool) -> Iterator[Inputs]:
    sample_bytes = sum(array[0].nbytes for array in inputs.arrays)
    most = max(1, PORTION_BYTES // max(1, sample_bytes))
    start, size = 0, inputs.count if whole else min(FIRST_PORTION, most)
    while start < inputs.count:
        part = tuple(array[start : start + size] for array in inputs.arrays)
        began = time.monotonic()
        yield Inputs(part, inputs.origin)
        per_sample = (time.monotonic() - began) / len(part[0])
        start += size
        size = max(1, min(most, int(PORTION_S / max(per_sample, 1e-6))))


def _any(part: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return next(iter(part.values()))
