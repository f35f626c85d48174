"""The comparison in generated C agrees with the one on the PC, for every type and value."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.deliver.dtypes import TYPES
from pytest_autodeploy.deliver.sources import Sources
from tests.helpers.deliver_examples import characterized, load
from tests.helpers.emulation import machine
from tests.helpers.tflite_builder import relu

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")

INF, NAN = np.inf, np.nan


class Tensor(ctypes.Structure):
    """``<name>_tensor_t``."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("dtype", ctypes.c_int),
        ("scale", ctypes.c_float),
        ("zero_point", ctypes.c_int32),
        ("shape", ctypes.c_void_p),
        ("rank", ctypes.c_size_t),
    )


class Expected(ctypes.Structure):
    """``<name>_expected_t``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("in_steps", ctypes.c_int),
        ("atol", ctypes.c_double),
        ("rtol", ctypes.c_double),
        ("allowed", ctypes.c_char_p),
    )


Print = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


@pytest.fixture(scope="module", params=["-O2", "-Ofast"])
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ctypes.CDLL:
    """The compiled comparison; -Ofast tells the compiler that there are neither NaN nor infinity.

    It is linked without: that would make all of this process flush the smallest floats to zero.
    """
    folder = tmp_path_factory.mktemp("compare")
    model = load(relu(), folder)
    files = Sources(characterized(model), model, machine("mps2-an386")).example("stdio")
    for name, text in files.items():
        (folder / name).write_text(text)
    for command in (
        ["gcc", request.param, "-fPIC", "-c", "model_compare.c"],
        ["gcc", "-shared", "-o", "compare.so", "model_compare.o"],
    ):
        subprocess.run(command, cwd=folder, check=True, timeout=60)
    return ctypes.CDLL(str(folder / "compare.so"))


def compare(
    library: ctypes.CDLL,
    board: Sequence[Any],
    pc: Sequence[Any],
    dtype: str,
    *,
    in_steps: bool = True,
    atol: float = 1.0,
    rtol: float = 0.0,
    scale: float = 0.0,
    zero_point: int = 0,
) -> str:
    """What it prints of an output, nothing when all elements match."""
    left, right = np.array(board, dtype), np.array(pc, dtype)
    number = TYPES[dtype].number
    tensor = Tensor(left.ctypes.data, left.nbytes, number, scale, zero_point, None, 0)
    steps = int(in_steps)
    expected = Expected(b"out", number, right.ctypes.data, right.nbytes, steps, atol, rtol, b"1")
    words: list[bytes] = []
    result = library.model_compare(
        ctypes.byref(tensor), ctypes.byref(expected), ctypes.c_size_t(0), Print(words.append)
    )
    text = b"".join(words).decode()
    assert result == bool(text)
    return text


INTEGERS = [name for name in TYPES if "float" not in name]
FLOATS = [name for name in TYPES if "float" in name]


@pytest.mark.parametrize("dtype", [name for name in INTEGERS if name != "bool"])
def test_one_step_passes_and_two_do_not(library: ctypes.CDLL, dtype: str) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    assert not compare(library, [low, high, 5], [low + 1, high - 1, 4], dtype)
    text = compare(library, [low, high, 5], [low, high - 2, 5], dtype)
    assert f"1 of 3 elements differ, first [1]: board {high}, PC {high - 2}" in text


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_the_whole_range_apart_differs(library: ctypes.CDLL, dtype: str) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    assert f"first [0]: board {low}, PC {high}" in compare(library, [low], [high], dtype)


def test_bools_must_be_equal(library: ctypes.CDLL) -> None:
    assert not compare(library, [True, False], [True, False], "bool", atol=0)
    assert "board 1, PC 0" in compare(library, [True], [False], "bool", atol=0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_pass_within_the_absolute_limit(library: ctypes.CDLL, dtype: str) -> None:
    real = {"in_steps": False, "atol": 0.25}

    assert not compare(library, [1.25, -2.25, 0.0], [1.5, -2.0, -0.0], dtype, **real)  # type: ignore[arg-type]
    text = compare(library, [-1.25], [1.5], dtype, **real)  # type: ignore[arg-type]
    assert "board -1.250000e+0, PC 1.500000e+0" in text


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_pass_within_the_relative_limit(library: ctypes.CDLL, dtype: str) -> None:
    def text(board: float) -> str:
        return compare(library, [board], [-64], dtype, in_steps=False, atol=0.0, rtol=0.25)

    assert not text(-80)
    assert "board -8.100000e+1, PC -6.400000e+1" in text(-81)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_match_only_themselves(library: ctypes.CDLL, dtype: str) -> None:
    values = [NAN, INF, -INF]
    limit = 1e300

    assert not compare(library, values, values, dtype, in_steps=False, atol=limit)
    for board, pc, words in (
        (NAN, 1, "board NaN, PC 1.000000e+0"),
        (1, INF, "board 1.000000e+0, PC infinity"),
        (-INF, INF, "board -infinity, PC infinity"),
        (INF, NAN, "board infinity, PC NaN"),
    ):
        assert words in compare(library, [board], [pc], dtype, in_steps=False, atol=limit)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float16", 6e-8),
        ("float16", 6e-5),
        ("float16", 65504),
        ("float32", 1e-45),
        ("float32", 3.4e38),
        ("float64", 5e-324),
        ("float64", 1.7e308),
    ],
)
def test_the_smallest_and_largest_floats_are_read_right(
    library: ctypes.CDLL, dtype: str, value: float
) -> None:
    exact = float(np.array(value, dtype))
    text = compare(library, [value], [0], dtype, in_steps=False, atol=0.0)

    shown = float(text.partition("board ")[2].partition(",")[0])
    assert shown == pytest.approx(exact, rel=1e-6) or exact < 1e-300


def test_real_limits_of_integers_use_their_scale(library: ctypes.CDLL) -> None:
    def text(board: int) -> str:
        real = {"scale": 0.5, "zero_point": 10, "rtol": 0.1, "atol": 0.5}
        return compare(library, [board], [30], "int8", in_steps=False, **real)  # type: ignore[arg-type]

    assert not text(33)  # 1.5 of 10 + 0.1 * 10
    assert "board 34, PC 30" in text(34)


def test_another_size_is_told(library: ctypes.CDLL) -> None:
    assert "another type or size" in compare(library, [1, 2], [1], "int8")
