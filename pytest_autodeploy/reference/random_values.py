"""Random samples for every input of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.errors import InputsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Operator, Tensor


PARTS = 8
"""Into so many blocks along each dimension but the last, of one value each, samples are coarsened.

Independent values average out in convolutions and pools: in visual wake words (MLPerf Tiny) no
operator that is a step off then shows.
"""

QUIET = 4
"""By how much quiet samples are nearer to the zero point, at which classifiers are less certain."""


def random_arrays(model: Model, count: int, seed: int) -> tuple[NDArray[Any], ...]:
    """One array (count, *tensor shape) per input; each input draws from a stream of its own.

    Of every four samples the second is coarse and the fourth quiet, the others are as drawn: no
    single kind leaves the outputs of all models unsaturated. It is the same for all inputs.
    """
    rows = min(_rows_of_lookups(model), default=None)
    return tuple(
        _vary(
            _draw(np.random.default_rng([seed, number]), tensor, (count, *tensor.shape), rows),
            tensor,
        )
        for number, tensor in enumerate(model.inputs)
    )


def _vary(values: NDArray[Any], tensor: Tensor) -> NDArray[Any]:
    """The same samples, of which some are coarse or quiet; plain integers and bools stay."""
    if values.dtype.kind != "f" and (values.dtype.kind == "b" or tensor.quantization is None):
        return values
    values[1::4] = _coarse(values[1::4])
    values[3::4] = _quiet(values[3::4], tensor)
    return values


def _coarse(values: NDArray[Any]) -> NDArray[Any]:
    """Blocks of the value that their first element has."""
    for axis, size in enumerate(values.shape[1:-1], 1):
        block = -(-size // PARTS)
        values = values.take(np.arange(size) // block * block, axis)
    return values


def _quiet(values: NDArray[Any], tensor: Tensor) -> NDArray[Any]:
    if values.dtype.kind == "f":
        lower: NDArray[Any] = values / values.dtype.type(QUIET)
        return lower
    zero = tensor.zero_point or 0
    if abs(np.iinfo(values.dtype).min) > 1 << 31:  # float64 would not hold them
        return values // QUIET
    near = np.rint(zero + (values.astype(np.float64) - zero) / QUIET)
    return near.astype(values.dtype)


def _draw(
    rng: np.random.Generator, tensor: Tensor, shape: tuple[int, ...], rows: int | None
) -> NDArray[Any]:
    kind = _dtype(tensor).kind
    if kind == "b":
        return rng.integers(0, 2, shape, np.uint8).astype(np.bool_)
    if kind == "f":
        # A grid that float16 holds exactly, so that rounding cannot reach 1.
        bits = 10 if tensor.dtype == "float16" else 23
        grid = rng.integers(-(2**bits), 2**bits, shape, np.int32)
        return (grid / 2.0**bits).astype(tensor.dtype)
    limits = np.iinfo(tensor.dtype)
    low, high = int(limits.min), int(limits.max)
    if rows is not None and tensor.quantization is None:
        low, high = 0, min(high, rows - 1)
    return rng.integers(low, high, shape, _dtype(tensor).type, endpoint=True)


def _dtype(tensor: Tensor) -> np.dtype[Any]:
    try:
        dtype = np.dtype(tensor.dtype)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise InputsError(
            f"input {tensor.name!r}: no inputs of type {tensor.dtype} can be made",
            hint="give inputs: --tflite-inputs=FILE",
        )
    return dtype


def _rows_of_lookups(model: Model) -> Iterator[int]:
    """Rows of each table that the model looks up by an index that it does not hold itself."""
    for operator in model.operators:
        if operator.name in ("GATHER", "GATHER_ND", "EMBEDDING_LOOKUP"):
            yield from _rows(operator)


def _rows(operator: Operator) -> Iterator[int]:
    first, second = operator.inputs[:2]
    ids_first = operator.name == "EMBEDDING_LOOKUP"
    table, indices = (second, first) if ids_first else (first, second)
    if table is None or indices is None or indices.constant:
        return
    if operator.name == "GATHER_ND":
        yield min(table.shape[: indices.shape[-1]])
    else:
        axis = int(operator.options.get("axis", 0)) if operator.name == "GATHER" else 0
        yield table.shape[axis]
