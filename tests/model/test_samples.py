"""Calibration samples from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.model.samples import read_samples


def save(path: Path, values: np.ndarray[Any, Any]) -> None:
    if path.suffix == ".npz":
        np.savez(path, values)
    elif path.suffix == ".npy":
        np.save(path, values)
    else:
        np.savetxt(path, values.reshape(len(values), -1), delimiter=",")


@pytest.mark.parametrize("suffix", ["npz", "npy", "csv"])
def test_a_model_with_one_input_takes_the_only_array(tmp_path: Path, suffix: str) -> None:
    values = np.arange(24).reshape(4, 3, 2) / 4
    save(tmp_path / f"values.{suffix}", values)
    samples = read_samples(tmp_path / f"values.{suffix}", {"x": [1, 3, 2]})
    assert samples["x"].dtype == np.float32
    np.testing.assert_array_equal(samples["x"], values)


def test_a_model_with_more_inputs_takes_arrays_by_name(tmp_path: Path) -> None:
    arrays = {"the audio": np.zeros((5, 8)), "gain": np.ones((5, 1))}
    np.savez(tmp_path / "values.npz", **arrays)  # type: ignore[arg-type]
    samples = read_samples(tmp_path / "values.npz", {"gain": [1, 1], "the_audio": [None, 8]})
    assert {name: values.shape for name, values in samples.items()} == {
        "gain": (5, 1),
        "the_audio": (5, 8),
    }


def test_a_missing_name_lists_what_is_wanted_and_what_is_there(tmp_path: Path) -> None:
    np.savez(tmp_path / "values.npz", a=np.zeros((5, 8)), b=np.zeros((5, 8)))
    with pytest.raises(InputsError, match="the inputs a, c; the file has a, b"):
        read_samples(tmp_path / "values.npz", {"a": [1, 8], "c": [1, 8]})


@pytest.mark.parametrize("name", ["shape.npy", "text.csv", "text.npy", "text.npz"])
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("no numbers")
    if name == "shape.npy":
        np.save(path, np.zeros((5, 7)))
    with pytest.raises(InputsError, match=r"inputs of the shapes \{'x': \[1, 8\]\}"):
        read_samples(path, {"x": [1, 8]})


def test_pickled_objects_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputsError, match="allow_pickle"):
        read_samples(tmp_path / "evil.npy", {"x": [1, 8]})
