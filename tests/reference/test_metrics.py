"""The figures of an error: each by its formula, and what they are at the edges."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.metrics.records.diagnosis import ErrorRecord
from pytest_autodeploy.metrics.records.plain import recorded
from pytest_autodeploy.reference.metrics import ErrorMetrics, argmax_agreement, error_metrics


def errors(board: list[Any], pc: list[Any], dtype: str = "float32") -> ErrorMetrics:
    return error_metrics(np.array(board, dtype), np.array(pc, dtype))


def test_each_figure_follows_its_formula() -> None:
    found = errors([1, 2, 3, 6], [1, 2, 5, 4])  # e = 0, 0, -2, 2; the PC's mean is 3
    assert (found.max_abs, found.mean_abs) == (2, 1)
    assert found.rmse == pytest.approx(math.sqrt(8 / 4))
    assert found.relative_l2 == pytest.approx(math.sqrt(8 / 46))
    assert found.cosine == pytest.approx(44 / math.sqrt(50 * 46))
    assert found.nse == pytest.approx(1 - 8 / 10)


def test_the_shape_does_not_matter() -> None:
    board, pc = np.arange(6.0), np.arange(6.0)[::-1]
    assert error_metrics(board.reshape(2, 3), pc.reshape(2, 3)) == error_metrics(board, pc)


def test_equal_arrays_have_no_error() -> None:
    found = errors([1, 2, 4], [1, 2, 4])
    assert (found.max_abs, found.mean_abs, found.rmse, found.relative_l2) == (0, 0, 0, 0)
    assert found.nse == 1
    assert found.cosine == pytest.approx(1)


def test_the_mean_of_the_pc_as_the_output_has_an_efficiency_of_0() -> None:
    assert errors([3, 3, 3], [1, 3, 5]).nse == 0


def test_integers_are_taken_as_real_values() -> None:
    assert errors([-128, 127], [127, -128], "int8").max_abs == 255


@pytest.mark.parametrize("value", [0, 0.1, -7])
def test_a_pc_that_is_constant_has_no_efficiency(value: float) -> None:
    """The mean of 0.1 is not 0.1 for every number of elements."""
    for count in (1, 3, 10, 77):
        assert errors([1.0] * count, [value] * count, "float64").nse is None


def test_a_pc_that_is_all_zero_has_no_relative_error() -> None:
    found = errors([1, 0], [0, 0])
    assert (found.relative_l2, found.cosine, found.max_abs) == (None, 0, 1)


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_what_is_not_finite_on_both_sides_is_0_apart_and_left_out(odd: float) -> None:
    found, without = errors([odd, 1, 2, 4], [odd, 1, 3, 5]), errors([1, 2, 4], [1, 3, 5])
    assert (found.max_abs, found.relative_l2) == (1, without.relative_l2)
    assert (found.cosine, found.nse) == (without.cosine, without.nse)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("swap", [False, True])
def test_what_is_not_finite_on_one_side_is_infinitely_far(odd: float, swap: bool) -> None:
    sides = [[odd, 1, 2], [0, 1, 3]]
    found = errors(*(reversed(sides) if swap else sides))
    assert (found.max_abs, found.rmse, found.relative_l2) == (math.inf,) * 3
    assert found.nse == -math.inf
    assert asdict(recorded(found, ErrorRecord)) == {
        "max_abs": None,
        "mean_abs": None,
        "rmse": None,
        "relative_l2": None,
        "cosine": pytest.approx(7 / math.sqrt(5 * 10)),
        "nse": None,
    }


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_values_raise_nothing(scale: float) -> None:
    found = errors([scale, 2 * scale], [3 * scale, 5 * scale], "float64")
    assert found.max_abs == pytest.approx(3 * scale)
    assert all(
        value is None or math.isfinite(value)
        for value in asdict(recorded(found, ErrorRecord)).values()
    )


def test_the_largest_of_two_classes_can_agree() -> None:
    board, pc = np.array([[[1, 2]], [[4, 3]]]), np.array([[[1, 2]], [[3, 4]]])
    assert argmax_agreement(board, pc) == 0.5
