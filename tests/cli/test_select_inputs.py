"""``autodeploy select-inputs``: the smallest part of a data set that tells as much as all of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import load_inputs
from tests.helpers.cli_support import run, run_json
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import svdf

MODEL = load_model(DIGITS)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six samples for the digits: three that tell nothing, and three that do."""
    rng = np.random.default_rng(1)
    shape = MODEL.inputs[0].shape
    samples = [np.full(shape, MODEL.inputs[0].zero_point, np.int8)] * 3
    samples += [rng.integers(-128, 128, shape).astype(np.int8) for _ in range(3)]
    path = tmp_path / "data.npy"
    np.save(path, np.concatenate(samples))
    return path


def test_the_part_is_smaller_and_notices_as_much(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "few.npz"
    code, document = run_json("select-inputs", data, DIGITS, "--out", out)
    assert code == 0
    chosen = document["selected"]
    assert document["of"] == 6
    assert 0 < len(chosen) < 4
    assert document["smallest"] is True
    every, few = load_inputs(data, MODEL), load_inputs(out, MODEL)
    assert np.array_equal(few.arrays[0], every.arrays[0][chosen])
    whole = tmp_path / "whole.npz"
    np.savez(whole, *few.arrays)
    again = run_json("select-inputs", out, DIGITS, "--out", whole)[1]
    assert again["sensitivity"]["shares"] == document["sensitivity"]["shares"]
    assert again["of"] == len(again["selected"])


def test_the_words_say_which_samples_and_what_they_notice(data: Path, tmp_path: Path) -> None:
    result = run("select-inputs", data, DIGITS, "--out", tmp_path / "few.npz")
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert first.startswith(f"{tmp_path / 'few.npz'}: ")
    assert " of 6 samples: " in first
    assert "7 of 7 operators would be noticed at 64 steps" in second


def test_without_enough_time_nothing_is_written(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "few.npz"
    arguments = ("select-inputs", data, DIGITS, "--out", out, "--sensitivity-time", "0.001")
    result = run(*arguments)
    assert result.exit_code == 1
    assert "--sensitivity-time" in result.stderr or "allow it more time" in result.stderr
    assert run_json(*arguments)[1]["error"]
    assert not out.exists()


def test_the_part_of_a_model_with_state_is_a_beginning(tmp_path: Path) -> None:
    path, data, out = (tmp_path / name for name in ("svdf.tflite", "data.npy", "few.npz"))
    path.write_bytes(svdf())
    np.save(data, np.random.default_rng(1).uniform(-1, 1, (5, 1, 2)).astype(np.float32))
    code, document = run_json("select-inputs", data, path, "--out", out)
    assert code == 0, document
    assert document["selected"] == list(range(len(document["selected"])))


def test_the_file_has_to_be_an_npz(data: Path, tmp_path: Path) -> None:
    result = run("select-inputs", data, DIGITS, "--out", tmp_path / "few.csv")
    assert result.exit_code == 2
    assert "an .npz file" in result.stderr
