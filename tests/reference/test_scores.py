"""Task metrics: what counts as right, ties, binary outputs, RMSE and R²."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_autodeploy.model.graph import Quantization, Tensor
from pytest_autodeploy.reference.scores import confused, decisions, hits, r2, real_scores, rmse


def test_of_equal_scores_the_lowest_class_is_decided_for() -> None:
    assert decisions(np.array([[0.2, 0.4, 0.4], [0.3, 0.3, 0.3]])).tolist() == [1, 0]


def test_one_score_decides_for_class_1_above_a_half() -> None:
    assert decisions(np.array([[0.5], [0.501], [0.1]])).tolist() == [0, 1, 0]


def test_a_score_that_is_no_number_decides_for_nothing_and_is_never_right() -> None:
    scores = np.array([[math.nan, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert decisions(scores).tolist() == [-1, 1]
    for top_k in (1, 2):
        assert hits(scores, np.array([1, 1]), top_k).tolist() == [False, True]


def test_the_highest_k_are_right_and_ties_go_to_the_lower_class() -> None:
    scores = np.array([[0.1, 0.4, 0.4, 0.1]] * 4)
    labels = np.array([0, 1, 2, 3])
    assert hits(scores, labels, 1).tolist() == [False, True, False, False]
    assert hits(scores, labels, 2).tolist() == [False, True, True, False]
    assert hits(scores, labels, 3).tolist() == [True, True, True, False]


def test_confused_classes_are_counted() -> None:
    assert confused(np.array([0, 0, 1, 1]), np.array([0, 2, 2, 2])) == [
        (0, 0, 1),
        (0, 2, 1),
        (1, 2, 2),
    ]


def test_rmse_and_r2_are_over_all_elements() -> None:
    targets = np.array([[0.0, 10.0], [2.0, 10.0], [4.0, 10.0]])
    values = targets + np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert rmse(values, targets) == pytest.approx(math.sqrt(1 / 6))
    assert r2(values, targets) == pytest.approx(1 - 1 / 8)


def test_r2_is_not_defined_for_targets_that_do_not_vary() -> None:
    assert r2(np.array([[1.0], [2.0]]), np.array([[3.0], [3.0]])) is None


def test_scores_are_real_values_of_the_outputs_own_scale() -> None:
    quantized = Tensor(0, 0, "y", (1, 3), "int8", Quantization((0.5,), (-4,), 0))
    outputs = np.array([[[0, 2, -4]], [[-128, 127, 1]]], np.int8)
    assert real_scores(quantized, outputs).tolist() == [[2, 3, 0], [-62, 65.5, 2.5]]


def test_a_count_of_highest_scores_ends_at_its_number() -> None:
    scores = np.array([[0.4, 0.3, 0.2, 0.1]] * 4)
    for top_k in range(1, 5):
        assert hits(scores, np.arange(4), top_k).tolist() == [n < top_k for n in range(4)]


def test_r2_may_be_below_zero_and_is_1_where_all_is_right() -> None:
    targets = np.array([[1.0], [2.0], [3.0]])
    assert r2(targets, targets) == 1
    assert r2(targets + 2, targets) == pytest.approx(1 - 12 / 2)
