"""Fit given arrays to an input tensor: shape, dtype, and real values to stored ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.errors import InputsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor

PLAIN_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))
"""What Python's own integers become; others are meant as the dtype that they have."""


def fit(values: Any, tensor: Tensor, where: str) -> NDArray[Any]:
    """An array (n, *tensor shape) of the tensor's dtype. Raises InputsError about ``where``."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InputsError(f"{where}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise InputsError(f"{where}: values of type {array.dtype}, expected {_expected(tensor)}")
    shaped = _reshape(array, tensor, where)
    if shaped.dtype.kind == "f" and not np.isfinite(shaped).all():
        raise InputsError(f"{where}: has NaN or infinite values")
    return np.ascontiguousarray(_stored(shaped, tensor, where))


def _reshape(array: NDArray[Any], tensor: Tensor, where: str) -> NDArray[Any]:
    """The array with the samples along its first dimension."""
    accepted = [tensor.shape, *([tensor.shape[1:]] if tensor.shape[:1] == (1,) else [])]
    for shape in accepted:
        if array.shape == shape:
            return array.reshape(1, *tensor.shape)
        if array.ndim == len(shape) + 1 and array.shape[1:] == shape:
            return _some(array.reshape(len(array), *tensor.shape), where)
    forms = " or ".join(_shape_text(("n", *shape)) for shape in accepted)
    raise InputsError(
        f"{where}: shape {_shape_text(array.shape)}, expected {forms}, n samples, "
        f"or one sample {_shape_text(tensor.shape)}"
    )


def _some(array: NDArray[Any], where: str) -> NDArray[Any]:
    if len(array) == 0:
        raise InputsError(f"{where}: has no samples")
    return array


def _shape_text(shape: tuple[object, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _stored(array: NDArray[Any], tensor: Tensor, where: str) -> NDArray[Any]:
    target = np.dtype(tensor.dtype)
    if array.dtype == target:
        return array
    if target.kind == "f":
        return _as_float(array, target, where)
    if array.dtype.kind == "f" and target.kind in "iu" and tensor.scale is not None:
        return _quantize(array, tensor, target)
    if array.dtype in PLAIN_INTEGERS:
        return _as_integer(array, target, where)
    wanted = f"values of type {array.dtype}, expected {_expected(tensor)}"
    raise InputsError(f"{where}: {wanted}", hint="")  # what is expected is the advice


def _as_float(array: NDArray[Any], target: np.dtype[Any], where: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        converted: NDArray[Any] = array.astype(target)
    if not np.isfinite(converted).all():
        raise InputsError(f"{where}: has values beyond the range of {target}")
    return converted


def _as_integer(array: NDArray[Any], target: np.dtype[Any], where: str) -> NDArray[Any]:
    low, high = (0, 1) if target.kind == "b" else (np.iinfo(target).min, np.iinfo(target).max)
    outside = array[(array < low) | (array > high)]
    if outside.size:
        raise InputsError(f"{where}: {outside[0]} is outside {target}, {low} to {high}")
    return array.astype(target)


def _quantize(array: NDArray[Any], tensor: Tensor, target: np.dtype[Any]) -> NDArray[Any]:
    """``round(real / scale) + zero_point``, half away from zero, clipped to the dtype."""
    scaled = array.astype(np.float64) / (tensor.scale or 1)
    steps = np.trunc(scaled + np.copysign(0.5, scaled)) + (tensor.zero_point or 0)
    limits = np.iinfo(target)
    clipped: NDArray[Any] = np.clip(steps, limits.min, limits.max).astype(target)
    return clipped


def _expected(tensor: Tensor) -> str:
    if tensor.scale is None or "float" in tensor.dtype:
        return tensor.dtype
    return f"{tensor.dtype}, or floats to be quantised"
