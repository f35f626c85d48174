"""Labels: which files and arrays are understood, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.model.graph import Quantization, Tensor
from pytest_autodeploy.reference.labels import as_labels, fitted_labels, load_labels

STEPS = Quantization((0.1,), (0,), 0)
SCORES = Tensor(0, 0, "scores", (1, 3), "int8", STEPS)
SIGMOID = Tensor(0, 0, "p", (1, 1), "int8", STEPS)
VALUES = Tensor(0, 0, "values", (1, 2), "float32")


def save_npz(path: Path, **arrays: Any) -> None:
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("y.npy", lambda path: np.save(path, np.array([0, 2, 1], np.uint8))),
        ("only.npz", lambda path: save_npz(path, anything=np.array([0, 2, 1]))),
        ("y.npz", lambda path: save_npz(path, labels=np.array([0, 2, 1]), more=np.zeros(3))),
        ("y.csv", lambda path: path.write_text("0\n2\n1\n", encoding="utf-8")),
    ],
)
def test_class_indices_are_read_from_files(
    tmp_path: Path, name: str, write: Callable[[Path], object]
) -> None:
    write(tmp_path / name)
    labels = load_labels(tmp_path / name)
    assert labels.are_classes
    assert fitted_labels(labels, SCORES, 3, Task()).array.tolist() == [0, 2, 1]
    assert labels.origin == f"labels of {name}"


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_one_hot_rows_count_as_class_indices(dtype: str) -> None:
    rows = np.eye(3, dtype=dtype)[[0, 2, 1]]
    fitted = fitted_labels(as_labels(rows), SCORES, 3, Task())
    assert fitted.are_classes
    assert fitted.array.tolist() == [0, 2, 1]


def test_numbers_with_a_decimal_point_are_real_targets(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("0,1.5\n2,3\n", encoding="utf-8")
    labels = load_labels(tmp_path / "y.csv")
    assert not labels.are_classes
    assert fitted_labels(labels, VALUES, 2, Task()).array.tolist() == [[0, 1.5], [2, 3]]


@pytest.mark.parametrize(
    ("name", "write", "says"),
    [
        (
            "text.txt",
            lambda path: path.write_text("0"),
            r"labels are read from \.npy, \.npz, \.csv",
        ),
        ("missing.npy", Path.exists, "no such file"),
        ("text.npy", lambda path: path.write_text("0"), r"not a valid \.npy file"),
        ("text.npz", lambda path: path.write_text("0"), r"not a valid \.npz file"),
        ("objects.npy", lambda path: np.save(path, np.array([{}])), "pickled objects"),
        ("words.npy", lambda path: np.save(path, np.array(["cat"])), "values of type <U3"),
        ("empty.npy", lambda path: np.save(path, np.zeros((0,))), "has no labels"),
        (
            "two.npz",
            lambda path: save_npz(path, a=np.zeros(1), b=np.zeros(1)),
            "name one.*'labels'",
        ),
        ("words.csv", lambda path: path.write_text("0\ncat\n"), "line 2, column 1: 'cat'"),
        ("uneven.csv", lambda path: path.write_text("0\n1,2\n"), "line 2 has 2 values, expected 1"),
    ],
)
def test_a_file_that_holds_no_labels_is_refused(
    tmp_path: Path, name: str, write: Callable[[Path], object], says: str
) -> None:
    write(tmp_path / name)
    with pytest.raises(InputsError, match=says):
        load_labels(tmp_path / name)


@pytest.mark.parametrize(
    ("tensor", "labels", "task", "says"),
    [
        (SCORES, [0, 1], Task(), "2 labels for 3 inputs"),
        (SCORES, [0, 3, 1], Task(), "label 3 of sample 1 is outside of the classes 0 to 2"),
        (SCORES, [0, -1, 1], Task(), "label -1 of sample 1 is outside"),
        (SIGMOID, [0, 2, 1], Task(), "outside of the classes 0 to 1"),
        (SCORES, np.ones((3, 3), int), Task(), "or a one-hot row of 3"),
        (SCORES, [0.0, 1.0, 2.0], Task(), r"shape \(3,\) of real targets, expected 3 per sample"),
        (SCORES, [0, 1, 2], Task(top_k=3), "top_k=3, but output 'scores' has 3 classes"),
        (SIGMOID, [0, 1, 1], Task(top_k=2), "top_k=2, but output 'p' has 2 classes"),
        (VALUES, [[0.0, 1], [np.nan, 1], [0, 1]], Task(), "NaN or infinite"),
        (Tensor(0, 0, "s", (1, 4, 3), "int8", STEPS), [0, 1, 2], Task(), "not one score per class"),
        (Tensor(0, 0, "c", (1,), "int32"), [0, 1, 1], Task(), "one plain int32, not a score"),
    ],
)
def test_labels_that_do_not_fit_the_output_are_refused(
    tensor: Tensor, labels: Any, task: Task, says: str
) -> None:
    with pytest.raises(InputsError, match=says):
        fitted_labels(as_labels(labels), tensor, 3, task)


def test_labels_that_were_fitted_fit_again() -> None:
    for tensor, given in ((SCORES, [0, 2, 1]), (VALUES, np.zeros((3, 2)))):
        once = fitted_labels(as_labels(given), tensor, 3, Task())
        again = fitted_labels(once, tensor, 3, Task())
        assert again.array.tolist() == once.array.tolist()


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputsError, match="labels given by the test"):
        as_labels([[0], [1, 2]])
