"""Read arrays from .npz, .npy and .csv files; nothing in them is executed."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.archive import ArchiveRefused
from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.npy import open_npz, read_npy
from pytest_autodeploy.reference.named_arrays import arrays_by_name

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model

Arrays = tuple["NDArray[Any]", ...]


def read_arrays(path: Path, model: Model) -> Arrays:
    """The arrays of a file, one per input of the model. Raises InputsError."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputsError(f"{path}: inputs are read from {', '.join(READERS)} files")
    with reading(path):
        return reader(path, model)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into one InputsError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise InputsError(f"{path}: no such file") from None
    except OSError as error:
        raise InputsError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ArchiveRefused as error:
        raise InputsError(
            f"{path}: {error}", hint="give fewer samples, or an .npy file, which is as it is"
        ) from None
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile, csv.Error) as error:
        if "pickle" in str(error):
            reason = "it holds pickled objects, which are not loaded"
        else:
            reason = str(error) or type(error).__name__
        raise InputsError(f"{path}: not a valid {path.suffix} file: {reason}") from None


def _read_npz(path: Path, model: Model) -> Arrays:
    with open_npz(path) as archive:
        return arrays_by_name(archive.read_all(), model, f"file {path.name}")


def _read_npy(path: Path, model: Model) -> Arrays:
    if len(model.inputs) > 1:
        names = ", ".join(repr(tensor.name) for tensor in model.inputs)
        raise InputsError(f"{path}: the model has the inputs {names}; give them in an .npz file")
    return (read_npy(path),)


def _read_csv(path: Path, model: Model) -> Arrays:
    sizes = [tensor.elements for tensor in model.inputs]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        rows = [checked_row(row, sum(sizes), reader.line_num) for row in reader if row]
    columns = np.cumsum([0, *sizes])
    return tuple(
        numbers([row[start:end] for row in rows]).reshape(len(rows), *tensor.shape)
        for tensor, start, end in zip(model.inputs, columns[:-1], columns[1:], strict=True)
    )


def checked_row(row: list[str], size: int, line: int) -> list[str]:
    """A row of ``size`` numbers. Raises ValueError that names the line."""
    if len(row) != size:
        raise ValueError(f"line {line} has {len(row)} values, expected {size}")
    for column, text in enumerate(row, 1):
        try:
            float(text)
        except ValueError:
            raise ValueError(f"line {line}, column {column}: {text!r} is not a number") from None
    return row


def numbers(rows: Sequence[Sequence[str]]) -> NDArray[Any]:
    """int64 when every value is written as an integer, float64 otherwise."""
    try:
        return np.array([[int(text) for text in row] for row in rows], np.int64)
    except (ValueError, OverflowError):
        return np.array([[float(text) for text in row] for row in rows], np.float64)


READERS = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".csv": _read_csv,
}
