"""Values at their very limit pass and the next one fails: the places where a verdict turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits import energy, latency
from pytest_autodeploy.limits.accuracy import AccuracyLimit, Task
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.metrics.accuracy.bounds import Bound, bounds_of
from pytest_autodeploy.metrics.accuracy.changed import changed_decisions
from pytest_autodeploy.metrics.accuracy.compare import TaskComparison, compared
from pytest_autodeploy.metrics.accuracy.record import accuracy_record
from pytest_autodeploy.metrics.accuracy.session_comparison import comparison_of
from pytest_autodeploy.metrics.accuracy.text import changed_lines, headline
from pytest_autodeploy.metrics.energy import EnergyMetric
from pytest_autodeploy.metrics.metric import at_most
from pytest_autodeploy.metrics.records.accuracy import ChangedDecision
from pytest_autodeploy.model.graph import Tensor
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference.inputs import Inputs, random_inputs
from pytest_autodeploy.reference.labels import Labels
from pytest_autodeploy.session.energy import Energy
from pytest_autodeploy.session.labelled import LabelledRun, side_of
from pytest_autodeploy.session.measured import RunResult
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers import tflite_builder as build
from tests.helpers.noisy_session import gate, session, subject, without_tflm
from tests.helpers.power_streams import found, stream

SCORES = Tensor(0, 0, "scores", (1, 2), "float32")


@pytest.fixture
def measured() -> Iterator[ModelSession]:
    with without_tflm():
        yield session(TimingNoise())


@pytest.mark.parametrize(("us", "status"), [(1000.0, "pass"), (1000.0000001, "FAIL")])
def test_a_value_exactly_at_its_limit_passes(
    measured: ModelSession, us: float, status: str
) -> None:
    budget = declare(latency.DECLARATION, us=1000)
    found_us = Measurement("latency_median", us, "us", "lower", "modelled")
    whole = subject(measured, gate(Path("unused")))
    row = at_most(whole, budget, found_us, 1000.0)
    assert (row.status, row.failure) == (status, "over a limit" if status == "FAIL" else None)


def test_a_failure_says_limit_value_and_what_is_over(measured: ModelSession) -> None:
    value = Measurement("latency_median", 1250.0, "us", "lower", "modelled", "warm")
    whole = subject(measured, gate(Path("unused")))
    row = at_most(whole, declare(latency.DECLARATION, ms=1), value, 1000.0)
    assert row.text.splitlines()[2:] == [
        "  limit   1.00 ms",
        "  value   1.25 ms (modelled, warm)",
        "  over    250.0 us (25.0 %)",
    ]


@pytest.mark.parametrize(
    ("value", "limit", "least", "met"),
    [
        (1.0, 1.0, True, True),
        (0.99, 1.0, True, False),
        (0.98 - 0.97, 0.01, False, True),  # which is 0.010000000000000009
        (0.98 - 0.969, 0.01, False, False),
        (0.0, 0.0, False, True),
        (0.5, 0.0, False, False),  # a limit of 0 is one
        (0.0, 0.5, True, False),
        (0.5, 0.5 + 0.9e-9, True, True),  # what rounding explains, and no more
        (0.5, 0.5 + 1.1e-9, True, False),
        (0.5, 0.5 - 0.9e-9, False, True),
        (0.5, 0.5 - 1.1e-9, False, False),
        (1e-9, 0.0, False, True),
        (-0.1, 0.0, False, True),
        (0.0, 0.0, True, True),
        (-1e-9, 0.0, True, True),
        (-0.5, 0.0, True, False),  # R² may be below 0
    ],
)
def test_a_bound_of_accuracy_is_met_at_its_limit(
    value: float, limit: float, least: bool, met: bool
) -> None:
    assert Bound("accuracy", value, None, limit, least=least).met is met


def task(board: Any, labels: Any, tensor: Tensor = SCORES, **pc: Any) -> TaskComparison:
    """A board held against paths of the PC; outputs are (n, 1, elements)."""
    known = Labels(np.array(labels), "labels")
    sides = {
        name: side_of(tensor, np.array(values, float), known, Task())
        for name, values in {"board": board, **pc}.items()
    }
    of_board = sides.pop("board")
    inputs = Inputs((np.zeros(len(labels)),), "x")
    run = LabelledRun(RunResult(inputs, ()), known, Task(), of_board)
    return compared(run, sides, source="modelled", failed_paths={})


def test_the_path_of_the_pc_is_chosen_by_decisions_and_not_by_scores() -> None:
    comparison = task(
        [[[0.6, 0.4]], [[0.4, 0.6]]],
        [0, 1],
        ref=[[[0.51, 0.49]], [[0.51, 0.49]]],  # near, and decides otherwise
        xnnpack=[[[9.0, -9.0]], [[-9.0, 9.0]]],
    )
    assert comparison.reference == "xnnpack"


def test_the_path_of_the_pc_is_chosen_by_the_distance_of_real_values() -> None:
    real = Tensor(0, 0, "y", (1, 1), "float32")
    comparison = task(
        [[[1.0]], [[2.0]]],
        [[1.0], [2.0]],
        real,
        ref=[[[-1.0]], [[-2.0]]],  # the sum of both is small, and their distance is not
        optimized=[[[1.5]], [[2.5]]],
        xnnpack=[[[1.4]], [[2.4]]],
    )
    assert comparison.reference == "xnnpack"
    assert not comparison.changed.size


def test_a_path_that_gives_no_numbers_is_the_farthest() -> None:
    real = Tensor(0, 0, "y", (1, 1), "float32")
    odd = [[[math.nan]], [[2.0]]]
    comparison = task([[[1.0]], [[2.0]]], [[1.0], [2.0]], real, ref=odd, xnnpack=[[[9.0]], [[9.0]]])
    assert comparison.reference == "xnnpack"
    assert comparison.pc.rmse == pytest.approx(math.sqrt((64 + 49) / 2))
    only_odd = task([[[1.0]], [[2.0]]], [[1.0], [2.0]], real, ref=odd)
    assert [each.name for each in only_odd.measurements()] == ["rmse", "r2"]


def test_decisions_that_changed_are_told_with_both_sides() -> None:
    comparison = task(
        [[[0.6, 0.4]], [[0.7, 0.3]], [[math.nan, 0.3]]],
        [0, 1, 1],
        ref=[[[0.9, 0.1]], [[0.2, 0.8]], [[0.1, 0.9]]],
    )
    assert comparison.changed.tolist() == [1, 2]
    assert changed_decisions(comparison) == (
        ChangedDecision(1, 1, 0, 0.7, 1, 0.8),
        ChangedDecision(2, 1, None, None, 1, 0.9),
    )
    assert headline(comparison).endswith(", 2 of 3 decisions changed")
    assert changed_lines(comparison) == [
        "  decisions that changed: 2 of 3",
        "    sample 1: label 1, PC 1, board 0",
        "    sample 2: label 1, PC 1, board none, not a number",
    ]
    same = task([[[0.6, 0.4]]], [0], ref=[[[0.9, 0.1]]])
    assert changed_lines(same) == []
    assert headline(same) == "1.0000 on the board, 1.0000 on the PC (ref kernels), 0 of 1 " + (
        "decisions changed"
    )


@pytest.mark.parametrize(
    ("count", "more"), [(5, None), (6, "    and 1 more"), (8, "    and 3 more")]
)
def test_a_failure_shows_five_decisions_that_changed(count: int, more: str | None) -> None:
    right, wrong = [[[1.0, 0.0]]] * count, [[[0.0, 1.0]]] * count
    lines = changed_lines(task(wrong, [0] * count, ref=right))
    assert len(lines) == 1 + 5 + (more is not None)
    assert lines[-1] == more or more is None


def test_one_score_is_told_with_itself() -> None:
    one = Tensor(0, 0, "y", (1, 1), "float32")
    (changed,) = changed_decisions(task([[[0.2]]], [1], one, ref=[[[0.8]]]))
    assert changed == ChangedDecision(0, 1, 0, 0.2, 1, 0.8)


def test_a_drop_is_what_the_board_has_less_than_the_pc() -> None:
    right, wrong = [[[1.0, 0.0]], [[0.0, 1.0]]], [[[1.0, 0.0]], [[1.0, 0.0]]]
    assert task(wrong, [0, 1], ref=right).drop == 0.5
    assert task(right, [0, 1], ref=wrong).drop == -0.5
    better = {m.name: m.better for m in task(wrong, [0, 1], ref=right).measurements()}
    assert better == {"accuracy": "higher", "accuracy_pc": "higher", "accuracy_drop": "lower"}


def test_classes_up_to_64_have_a_matrix_and_20_pairs_are_told() -> None:
    for classes, has_matrix in ((64, True), (65, False)):
        tensor = Tensor(0, 0, "scores", (1, classes), "float32")
        scores = np.eye(classes)[[(n + 1) % classes for n in range(classes)]]
        board = scores.reshape(classes, 1, classes)
        record = accuracy_record(task(board, range(classes), tensor, ref=board))
        assert (record.confusion is not None) is has_matrix
        assert record.classes == classes
        assert len(record.confused) == 20


def test_pairs_are_told_the_most_frequent_first_and_no_decision_has_no_column() -> None:
    board = [[[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 0.0]], [[math.nan, 1.0]]]
    record = accuracy_record(task(board, [0, 1, 1, 1], ref=board))
    assert record.confused == ((1, 0, 2), (0, 1, 1), (1, -1, 1))
    assert record.confusion == ((0, 1), (2, 0))


def test_figures_are_named_after_what_they_count_and_who_ran() -> None:
    scores = np.eye(3)[[0, 1, 2]].reshape(3, 1, 3)
    known = Labels(np.array([0, 1, 0]), "labels")
    tensor = Tensor(0, 0, "scores", (1, 3), "float32")
    inputs = Inputs((np.zeros(3),), "x")
    for top_k, name in ((1, "accuracy"), (2, "accuracy_top2")):
        wanted = Task(top_k=top_k)
        side = side_of(tensor, scores, known, wanted)
        run = LabelledRun(RunResult(inputs, ()), known, wanted, side)
        for path, engine in (("ref", "LiteRT"), ("tensorflow", "TensorFlow")):
            found = compared(run, {path: side}, source="measured", failed_paths={})
            assert [each.name for each in found.measurements()] == [
                name,
                f"{name}_pc",
                f"{name}_drop",
            ]
            note = f"{engine} on this PC, {path} kernels"
            assert found.measurements()[1].note == f"{side.correct} of 3 samples, {note}"
            assert not found.is_binary


def test_one_score_decides_between_two_classes() -> None:
    one = Tensor(0, 0, "y", (1, 1), "float32")
    scores = np.array([[0.2], [0.8]]).reshape(2, 1, 1)
    assert task(scores, [0, 1], one, ref=scores).is_binary
    assert not task(scores, [[0.1], [0.9]], one, ref=scores).is_binary


def test_right_decisions_are_not_listed_as_confused() -> None:
    scores = np.eye(2)[[0, 0, 1]].reshape(3, 1, 2)
    record = accuracy_record(task(scores, [0, 1, 1], ref=scores))
    assert record.confused == ((1, 0, 1),)
    assert record.confusion == ((1, 0), (1, 1))


def test_targets_that_do_not_vary_have_no_r2_and_no_drop() -> None:
    real = Tensor(0, 0, "y", (1, 1), "float32")
    values = np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    comparison = task(values, [[2.0], [2.0], [2.0]], real, ref=values)
    assert comparison.board.r2 is None
    assert comparison.drop is None
    assert [each.name for each in comparison.measurements()] == ["rmse", "rmse_pc"]
    assert accuracy_record(comparison).drop is None
    (bound,) = bounds_of(AccuracyLimit(Task(), max_rmse=1.0), comparison)
    assert bound.met


def test_every_bound_of_real_targets_points_the_right_way() -> None:
    real = Tensor(0, 0, "y", (1, 1), "float32")
    board, pc = (np.array(values).reshape(4, 1, 1) for values in ([1.0, 2, 3, 5], [1.0, 2, 3, 4]))
    comparison = task(board, [[1.0], [2.0], [3.0], [4.0]], real, ref=pc)
    strict = AccuracyLimit(Task(), max_rmse=0.4, min_r2=0.9, max_drop=0.1)
    loose = AccuracyLimit(Task(), max_rmse=0.6, min_r2=0.7, max_drop=0.3)
    assert comparison.board.rmse == 0.5
    assert comparison.board.r2 == 0.8
    assert [(bound.what, bound.text, bound.met) for bound in bounds_of(strict, comparison)] == [
        ("RMSE", "at most 0.4", False),
        ("R²", "at least 0.9", False),
        ("drop of R² from the PC to the board", "at most 0.1", False),
    ]
    assert all(bound.met for bound in bounds_of(loose, comparison))


def test_every_bound_of_classes_points_the_right_way() -> None:
    right, wrong = np.eye(2)[[0, 1]].reshape(2, 1, 2), np.eye(2)[[0, 0]].reshape(2, 1, 2)
    comparison = task(wrong, [0, 1], ref=right)
    strict = bounds_of(AccuracyLimit(Task(), min=0.6, max_drop=0.4), comparison)
    loose = bounds_of(AccuracyLimit(Task(), min=0.5, max_drop=0.5), comparison)
    assert [(bound.what, bound.text, bound.met) for bound in strict] == [
        ("accuracy", "at least 0.6", False),
        ("drop of accuracy from the PC to the board", "at most 0.4", False),
    ]
    assert [bound.met for bound in loose] == [True, True]


def test_another_model_with_an_output_of_another_size_is_refused() -> None:
    own = parse(Path("own.tflite"), build.fully_connected(units=4))
    other = parse(Path("other.tflite"), build.fully_connected(units=3))
    inputs = random_inputs(own, 2, 1)
    labels = Labels(np.array([0, 1]), "labels")
    side = side_of(own.outputs[0], np.zeros((2, 1, 4), np.int8), labels, Task())
    run = LabelledRun(RunResult(inputs, ()), labels, Task(), side)
    with pytest.raises(InputsError, match="its output 0 is not like 'y' of the model that it"):
        comparison_of(run, cast(Any, SimpleNamespace(model=own)), other, cast(Any, None))


def test_energy_without_a_limit_is_told_in_each_mode_that_has_none(measured: ModelSession) -> None:
    (window,) = found(stream(np.full(20_000, 0.02)).chunks(1 << 16))
    for mode in ("HP", "LP"):
        measured.measured.power[mode] = Energy(mode, 4, (window,), "measured", "a meter")
    whole = subject(measured, gate(Path("unused")))
    limited = declare(energy.ENERGY, uj=1, mode="LP")
    told = list(EnergyMetric().unlimited(whole, [limited]))
    assert [(row.status, row.limit) for row in told] == [("no limit", "energy_limit(mode='HP')")]
    assert len(list(EnergyMetric().unlimited(whole, []))) == 2


def test_one_timed_inference_is_enough(measured: ModelSession) -> None:
    assert len(measured.latency(1).samples_us) == 1
    with pytest.raises(ValueError, match="at least 1, not 0"):
        measured.latency(0)


@pytest.mark.parametrize(("run", "times"), [("first", 3), ("warm", 1)])
def test_each_first_inference_of_a_profile_is_a_first_one(
    measured: ModelSession, monkeypatch: pytest.MonkeyPatch, run: Any, times: int
) -> None:
    set_up = []
    setup = ModelSession._setup
    monkeypatch.setattr(
        ModelSession,
        "_setup",
        lambda self: set_up.append(self) or setup(self),  # type: ignore[func-returns-value]
    )
    assert measured.profile(run, repeats=3).repeats == 3
    assert len(set_up) == times


def test_a_sibling_has_the_arena_of_its_own_model_and_the_largest_of_another(
    measured: ModelSession,
) -> None:
    measured.prepare(measured.inputs, arena_bytes=8_000)
    other = parse(Path("other.tflite"), build.relu())
    same = measured.sibling(measured.model, measured.inputs)
    another = measured.sibling(other, random_inputs(other, 1, 1))
    assert (same._image.arena_bytes, another._image.arena_bytes) == (8_000, 0)
