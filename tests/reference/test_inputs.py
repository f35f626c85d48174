"""Inputs: random over the whole range, from files, and given by a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.model.graph import Quantization
from pytest_autodeploy.reference.inputs import as_inputs, load_inputs, random_inputs
from tests.helpers.reference_stand_ins import model, operator, tensor

ONE_INPUT = model(tensor())
TWO_INPUTS = model(tensor("a", (1, 2)), tensor("b", (1, 3), "float32"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
def test_random_integers_cover_the_range_of_their_dtype(dtype: str) -> None:
    values = random_inputs(model(tensor(shape=(1, 4096), dtype=dtype)), 20, 42).arrays[0]
    limits = np.iinfo(dtype)
    assert values.dtype == dtype
    assert values.min() < limits.min * 0.99 + limits.max * 0.01
    assert values.max() > limits.max * 0.99 + limits.min * 0.01


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_random_integers_reach_both_ends(dtype: str) -> None:
    values = random_inputs(model(tensor(shape=(1, 4096), dtype=dtype)), 2, 42).arrays[0]
    assert (values.min(), values.max()) == (np.iinfo(dtype).min, np.iinfo(dtype).max)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_floats_are_uniform_from_minus_one_to_below_one(dtype: str) -> None:
    values = random_inputs(model(tensor(shape=(1, 10000), dtype=dtype)), 1, 42).arrays[0]
    assert values.dtype == dtype
    assert -1 <= values.min() < -0.99
    assert 0.99 < values.max() < 1


def test_random_bools_are_both() -> None:
    values = random_inputs(model(tensor(shape=(1, 64), dtype="bool")), 1, 42).arrays[0]
    assert values.dtype == np.bool_
    assert 0 < values.sum() < 64


def test_every_input_is_random() -> None:
    first, second = random_inputs(model(tensor("a"), tensor("b")), 50, 42).arrays
    assert len(np.unique(first)) > 50
    assert len(np.unique(second)) > 50
    assert not np.array_equal(first, second)


def test_a_seed_gives_the_same_inputs_again() -> None:
    first = random_inputs(TWO_INPUTS, 5, 7)
    again = random_inputs(TWO_INPUTS, 5, 7)
    other = random_inputs(TWO_INPUTS, 5, 8)
    assert all(np.array_equal(a, b) for a, b in zip(first.arrays, again.arrays, strict=True))
    assert not np.array_equal(first.arrays[1], other.arrays[1])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float32", "bool"])
def test_a_sample_does_not_depend_on_how_many_follow_it(dtype: str) -> None:
    odd = model(tensor(shape=(1, 3), dtype=dtype))
    few, many = random_inputs(odd, 3, 42).arrays[0], random_inputs(odd, 50, 42).arrays[0]
    assert np.array_equal(few, many[:3])


@pytest.mark.parametrize("count", [0, -1])
def test_no_random_inputs_is_an_error(count: int) -> None:
    with pytest.raises(InputsError, match=f"at least 1, not {count}"):
        random_inputs(ONE_INPUT, count, 42)


def test_random_strings_cannot_be_made() -> None:
    with pytest.raises(InputsError, match="no inputs of type string"):
        random_inputs(model(tensor(dtype="string", quantization=None)), 1, 42)


TABLE = tensor("table", (7, 3), "float32", constant=True)
INDICES = tensor("ids", (1, 100), "int32", None)


@pytest.mark.parametrize(
    ("lookup", "rows"),
    [
        (operator("GATHER", TABLE, INDICES, axis=0), 7),
        (operator("GATHER", TABLE, INDICES, axis=-1), 3),
        (operator("EMBEDDING_LOOKUP", INDICES, TABLE), 7),
        (operator("GATHER_ND", TABLE, tensor("ids", (1, 2), "int32", None)), 3),
    ],
)
def test_random_indices_stay_inside_the_table_they_look_up(lookup: Any, rows: int) -> None:
    values = random_inputs(model(INDICES, operators=(lookup,)), 5, 42).arrays[0]
    assert set(np.unique(values)) == set(range(rows))


def test_a_lookup_by_constants_does_not_narrow_the_inputs() -> None:
    lookup = operator("GATHER", TABLE, tensor("ids", (2,), "int32", None, constant=True))
    values = random_inputs(model(INDICES, operators=(lookup,)), 5, 42).arrays[0]
    assert values.max() > 1e9


@pytest.mark.parametrize(("shape", "count"), [((5, 1, 4), 5), ((5, 4), 5), ((1, 4), 1), ((4,), 1)])
def test_samples_may_have_a_batch_dimension_or_not(shape: tuple[int, ...], count: int) -> None:
    given = np.arange(np.prod(shape), dtype=np.int8).reshape(shape)
    inputs = as_inputs(given, ONE_INPUT)
    assert inputs.arrays[0].shape == (count, 1, 4)
    assert inputs.count == count


def test_a_wrong_shape_names_both() -> None:
    with pytest.raises(InputsError, match=r"shape \(2, 5\), expected \(n, 1, 4\) or \(n, 4\)"):
        as_inputs(np.zeros((2, 5), np.int8), ONE_INPUT)


def test_real_values_are_quantised_half_away_from_zero_and_clipped() -> None:
    real = [[0.0, 0.25, -0.25, 1.2], [1e9, -1e9, 0.24, -0.26]]
    inputs = as_inputs(np.array(real), ONE_INPUT)
    assert inputs.arrays[0].tolist() == [[[3, 4, 2, 5]], [[127, -128, 3, 2]]]


def test_plain_integers_are_stored_values() -> None:
    assert as_inputs([np.array([[1, 2, 3, -128]])], ONE_INPUT).arrays[0].tolist() == [
        [[1, 2, 3, -128]]
    ]


def test_plain_integers_out_of_range_are_an_error() -> None:
    with pytest.raises(InputsError, match="200 is outside int8, -128 to 127"):
        as_inputs(np.array([[1, 2, 3, 200]]), ONE_INPUT)


@pytest.mark.parametrize(
    ("values", "target", "message"),
    [
        (np.zeros((1, 4), np.uint8), "int8", "type uint8, expected int8, or floats"),
        (np.zeros((1, 4), complex), "int8", "type complex128, expected int8"),
        (np.array([["a"] * 4]), "float32", "type <U1, expected float32"),
        (np.zeros((1, 4)), "bool", "type float64, expected bool"),
        (np.array([[0, 1, 2, 1]]), "bool", "2 is outside bool, 0 to 1"),
        (np.array([[1e300] * 4]), "float32", "beyond the range of float32"),
        (np.array([[0, np.nan, 0, 0]]), "float32", "NaN or infinite"),
        (np.array([[0, np.inf, 0, 0]]), "int8", "NaN or infinite"),
        (np.zeros((0, 4), np.int8), "int8", "no samples"),
    ],
)
def test_values_that_do_not_fit_are_an_error(values: Any, target: str, message: str) -> None:
    with pytest.raises(InputsError, match=message):
        as_inputs(values, model(tensor(dtype=target)))


def test_real_values_need_a_quantised_input() -> None:
    plain = model(tensor(dtype="int32", quantization=None))
    with pytest.raises(InputsError, match=r"type float64, expected int32$"):
        as_inputs(np.zeros((1, 4)), plain)


def test_a_per_channel_quantised_input_takes_stored_values_only() -> None:
    per_channel = model(tensor(quantization=Quantization((1.0, 2.0), (0, 0), 0)))
    with pytest.raises(InputsError, match=r"type float64, expected int8$"):
        as_inputs(np.zeros((1, 4)), per_channel)


def test_a_number_is_that_many_random_samples() -> None:
    assert as_inputs(3, ONE_INPUT, 5).origin == "random, seed 5"


def test_inputs_pass_through_with_their_origin() -> None:
    inputs = random_inputs(ONE_INPUT, 3, 42)
    again = as_inputs(inputs, ONE_INPUT)
    assert (again.origin, again.seed, again.count) == ("random, seed 42", 42, 3)


def test_inputs_of_another_model_are_an_error() -> None:
    with pytest.raises(InputsError, match="random, seed 42: 1 arrays for 2 inputs"):
        as_inputs(random_inputs(ONE_INPUT, 3, 42), TWO_INPUTS)


def test_arrays_by_tensor_name() -> None:
    given = {"b": np.ones((2, 3), np.float32), "a": np.zeros((2, 2), np.int8)}
    first, second = as_inputs(given, TWO_INPUTS).arrays
    assert (first.shape, second.shape) == ((2, 1, 2), (2, 1, 3))


def test_inputs_with_different_numbers_of_samples_are_an_error() -> None:
    with pytest.raises(InputsError, match=r"different numbers of samples: \[2, 3\]"):
        as_inputs((np.zeros((2, 2), np.int8), np.zeros((3, 3))), TWO_INPUTS)


def test_what_is_no_input_is_an_error() -> None:
    with pytest.raises(InputsError, match="NoneType is neither"):
        as_inputs(None, ONE_INPUT)


@pytest.mark.parametrize("names", [("a", "b"), ("input_0", "input_1"), ("arr_0", "arr_1")])
def test_npz_by_any_of_the_names(tmp_path: Path, names: tuple[str, str]) -> None:
    file = tmp_path / "x.npz"
    arrays = {names[1]: np.ones((2, 3), np.float32), names[0]: np.zeros((2, 2), np.int8)}
    np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy's stub mistakes them for allow_pickle
    inputs = load_inputs(file, TWO_INPUTS)
    assert inputs.origin == "file x.npz"
    assert [array.shape for array in inputs.arrays] == [(2, 1, 2), (2, 1, 3)]


def test_wrong_names_in_an_npz_list_the_valid_ones(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(2), wrong=np.zeros(3))
    message = r"named 'a', 'wrong'; expected 'a', 'b' or 'input_0', 'input_1' or 'arr_0', 'arr_1'"
    with pytest.raises(InputsError, match=message):
        load_inputs(tmp_path / "x.npz", TWO_INPUTS)


def test_npy_for_one_input(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.full((6, 4), 9, np.int8))
    assert load_inputs(tmp_path / "x.npy", ONE_INPUT).count == 6


def test_npy_for_two_inputs_points_to_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(4))
    with pytest.raises(InputsError, match=r"inputs 'a', 'b'; give them in an \.npz file"):
        load_inputs(tmp_path / "x.npy", TWO_INPUTS)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_pickled_objects_are_not_loaded(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"x{suffix}"
    objects = np.array([{"a": 1}], dtype=object)
    if suffix == ".npy":
        np.save(file, objects)
    else:
        np.savez(file, arr_0=objects)
    with pytest.raises(InputsError, match="pickled objects, which are not loaded"):
        load_inputs(file, ONE_INPUT)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"\x93NUMPY\x01\x00\xff", b"\xff"])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, suffix: str, content: bytes) -> None:
    file = tmp_path / f"x{suffix}"
    file.write_bytes(content)
    with pytest.raises(InputsError, match=f"x{suffix}.*|no samples"):
        load_inputs(file, ONE_INPUT)


def test_a_npy_file_that_claims_more_than_it_holds_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros((1000, 4), np.int8))
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(InputsError, match=r"not a valid \.npy file"):
        load_inputs(file, ONE_INPUT)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputsError, match=r"x\.npz: no such file"):
        load_inputs(tmp_path / "x.npz", ONE_INPUT)


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(InputsError, match="cannot be read"):
        load_inputs(tmp_path / "x.csv", ONE_INPUT)


def test_another_kind_of_file_lists_the_kinds(tmp_path: Path) -> None:
    with pytest.raises(InputsError, match=r"read from \.npz, \.npy, \.csv files"):
        load_inputs(tmp_path / "x.pkl", ONE_INPUT)


def test_csv_integers_are_stored_values(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2,3,4\n\n-128, 127, 0, 0\n")
    assert load_inputs(tmp_path / "x.csv", ONE_INPUT).arrays[0].tolist() == [
        [[1, 2, 3, 4]],
        [[-128, 127, 0, 0]],
    ]


def test_csv_real_values_are_quantised(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("0.0,0.5,1,1e3\n")
    assert load_inputs(tmp_path / "x.csv", ONE_INPUT).arrays[0].tolist() == [[[3, 4, 5, 127]]]


def test_csv_columns_are_the_inputs_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2,0.5,0.25,0.125\n")
    first, second = load_inputs(tmp_path / "x.csv", TWO_INPUTS).arrays
    assert first.tolist() == [[[1, 2]]]
    assert second.tolist() == [[[0.5, 0.25, 0.125]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n", "line 1 has 3 values, expected 4"),
        ("1,2,3,4\n1,2,x,4\n", "line 2, column 3: 'x' is not a number"),
        ("1,2,nan,4\n", "NaN or infinite"),
        ("\n", "no samples"),
    ],
)
def test_a_bad_csv_says_where(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputsError, match=message):
        load_inputs(tmp_path / "x.csv", ONE_INPUT)
