"""Labels of samples: class indices or real targets, from a file or given by a test."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.npy import open_npz, read_npy
from pytest_autodeploy.limits.accuracy import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor

GIVEN = "labels given by the test"
NAME = "labels"
"""The array of an .npz file with several."""

BINARY = 2
"""Classes of an output with one element."""


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per sample.

    ``array``: of shape (n,), integers are class indices; floats are real targets, of shape (n,
    elements of the output) once they are fitted to it. ``origin`` says where they come from, such
    as ``labels of y.npy``.
    """

    array: NDArray[Any]
    origin: str

    @property
    def are_classes(self) -> bool:
        """Whether they are class indices."""
        return self.array.dtype.kind != "f"


def load_labels(path: Path) -> Labels:
    """The labels of a file.

    ``.npy``: one array; ``.npz``: the array ``labels``, or the only one; ``.csv``: one sample a
    row, class indices when all are written as integers, real targets otherwise. Raises InputsError.
    """
    from pytest_autodeploy.reference.input_files import reading

    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputsError(f"{path}: labels are read from {', '.join(READERS)} files")
    with reading(path):
        array = reader(path)
    return _check(array, f"labels of {path.name}")


def as_labels(value: Any) -> Labels:
    """Labels from what a test gives: the path of a file, or an array. Raises InputsError."""
    import numpy as np

    if isinstance(value, Labels):
        return value
    if isinstance(value, str | Path):
        return load_labels(Path(value))
    try:
        return _check(np.asarray(value), GIVEN)
    except ValueError as error:  # rows of different lengths
        raise InputsError(f"{GIVEN}: {error}") from None


def fitted_labels(labels: Labels, tensor: Tensor, count: int, task: Task) -> Labels:
    """The labels of ``count`` samples, checked against the output that they are for.

    Class indices get the shape (n,), real targets (n, elements of the output); one-hot rows, of
    whatever type, count as class indices. Raises InputsError.
    """
    if len(labels.array) != count:
        raise InputsError(
            f"{labels.origin}: {len(labels.array)} labels for {count} inputs; give one per input"
        )
    if _are_one_hot(labels, tensor):
        labels = Labels(labels.array.reshape(count, -1).argmax(axis=1), labels.origin)
    array = _classes(labels, tensor, task) if labels.are_classes else _targets(labels, tensor)
    return Labels(array, labels.origin)


def _are_one_hot(labels: Labels, tensor: Tensor) -> bool:
    """Whether every row has a 1 for one class of the output and 0 for the others."""
    array = labels.array
    if tensor.elements < BINARY or array.size != len(array) * tensor.elements:
        return False
    rows = array.reshape(len(array), -1)
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all())


def class_count(tensor: Tensor, origin: str) -> int:
    """How many classes an output tells apart. Raises InputsError for one without scores."""
    if tensor.elements == 1:
        if tensor.scale is None and "float" not in tensor.dtype:
            raise InputsError(
                f"{origin}: output {tensor.name!r} holds one plain {tensor.dtype}, not a score",
                hint="compute your own figure from model_session.run().outputs",
            )
        return BINARY
    if tensor.elements != max(tensor.shape):
        raise InputsError(
            f"{origin}: output {tensor.name!r} has the shape {tensor.shape}, which is not one "
            "score per class",
            hint="judge another output with output=, or compute your own figure from "
            "model_session.run().outputs",
        )
    return tensor.elements


def _classes(labels: Labels, tensor: Tensor, task: Task) -> NDArray[Any]:
    import numpy as np

    classes = class_count(tensor, labels.origin)
    if task.top_k >= classes and task.top_k > 1:
        raise InputsError(
            f"{labels.origin}: top_k={task.top_k}, but output {tensor.name!r} has {classes} classes"
        )
    if labels.array.size != len(labels.array):
        raise InputsError(
            f"{labels.origin}: shape {labels.array.shape}, expected one class index per sample, "
            f"or a one-hot row of {classes}",
            hint="real targets of a regression are given as floats",
        )
    array = labels.array.reshape(-1)
    outside = np.flatnonzero((array < 0) | (array >= classes))
    if outside.size:
        sample = int(outside[0])
        raise InputsError(
            f"{labels.origin}: label {array[sample]} of sample {sample} is outside of the "
            f"classes 0 to {classes - 1} of output {tensor.name!r}",
            hint="real targets of a regression are given as floats",
        )
    indices: NDArray[Any] = array.astype(np.int64)
    return indices


def _targets(labels: Labels, tensor: Tensor) -> NDArray[Any]:
    import numpy as np

    count = len(labels.array)
    if labels.array.size != count * tensor.elements:
        raise InputsError(
            f"{labels.origin}: shape {labels.array.shape} of real targets, expected "
            f"{tensor.elements} per sample as output {tensor.name!r} has",
            hint="class indices are given as integers",
        )
    flat = labels.array.reshape(count, tensor.elements).astype(np.float64)
    if not np.isfinite(flat).all():
        raise InputsError(f"{labels.origin}: has NaN or infinite values")
    return flat


def _check(array: NDArray[Any], origin: str) -> Labels:
    if array.dtype.kind not in "biuf":
        raise InputsError(f"{origin}: values of type {array.dtype}, expected integers or floats")
    if array.ndim == 0 or len(array) == 0:
        raise InputsError(f"{origin}: has no labels")
    return Labels(array, origin)


def _read_npz(path: Path) -> NDArray[Any]:
    with open_npz(path) as archive:
        names = archive.names
        if NAME not in names and len(names) != 1:
            shown = ", ".join(map(repr, names)) or "nothing"
            raise InputsError(f"{path}: has arrays named {shown}; name one of them {NAME!r}")
        return archive.read(NAME if NAME in names else names[0])


def _read_csv(path: Path) -> NDArray[Any]:
    from pytest_autodeploy.reference.input_files import checked_row, numbers

    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        rows: list[list[str]] = []
        for row in filter(None, reader):
            rows.append(checked_row(row, len(rows[0] if rows else row), reader.line_num))
    return numbers(rows)


READERS = {".npy": read_npy, ".npz": _read_npz, ".csv": _read_csv}
