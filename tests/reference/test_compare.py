"""The comparison: nearest path per inference, tolerance, metrics and words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.model.graph import Quantization, Tensor
from pytest_autodeploy.reference.compare import (
    Agreement,
    Tolerance,
    compare,
    describe,
    failure_text,
)
from tests.helpers.reference_stand_ins import model, tensor

INT8 = tensor("y", (1, 4), "int8")  # scale 0.5, zero point 3
FLOAT = tensor("y", (1, 4), "float32")

LOOSE: list[dict[str, Any]] = [{}, {"rtol": 1e9}, {"atol": 1e9}]

ZEROS = [[0, 0, 0, 0], [0, 0, 0, 0]]


def batch(rows: list[list[Any]], dtype: str = "int8") -> np.ndarray:
    """Outputs of shape (n, 1, 4)."""
    return np.array(rows, dtype).reshape(len(rows), 1, -1)


def agree(
    board: list[list[Any]],
    paths: Mapping[str, list[list[Any]]],
    *,
    output: Tensor = INT8,
    **tolerance: Any,
) -> Agreement:
    """Compare one output."""
    by_path = {path: (batch(rows, output.dtype),) for path, rows in paths.items()}
    given = (batch(board, output.dtype),)
    return compare(model(outputs=(output,)), given, by_path, Tolerance(**tolerance))


def test_equal_outputs_are_bit_exact() -> None:
    agreement = agree([[1, 2, 3, 4]], {"ref": [[1, 2, 3, 4]], "xnnpack": [[1, 2, 3, 9]]})
    assert agreement.passed
    assert agreement.exact
    assert agreement.exact_paths == ("ref",)
    assert agreement.worst is None
    assert describe(agreement) == "bit-exact with ref"


def test_every_inference_is_held_against_the_path_nearest_to_it() -> None:
    agreement = agree(
        [[0, 0, 0, 1], [0, 0, 0, 9]],
        {"ref": ZEROS, "optimized": [[0, 0, 0, 9], [0, 0, 0, 8]]},
    )
    assert agreement.passed
    assert agreement.nearest == {"ref": 1, "optimized": 1}
    assert agreement.distances == {"ref": 9, "optimized": 8}
    assert describe(agreement) == "within 1 step of ref (1 of 2), optimized (1 of 2)"


def test_an_inference_is_not_mixed_from_two_paths() -> None:
    agreement = agree([[0, 9, 0, 0]], {"ref": [[0, 0, 0, 0]], "optimized": [[9, 9, 0, 0]]})
    assert not agreement.passed


def test_the_nearest_path_is_chosen_over_all_outputs_together() -> None:
    outputs = (INT8, tensor("z", (1, 4), "float32"))
    floats = batch([[1, 1, 1, 1]], "float32")
    agreement = compare(
        model(outputs=outputs),
        (batch([[0, 0, 0, 0]]), floats),
        {
            "ref": (batch([[0, 0, 0, 0]]), floats * 2),
            "optimized": (batch([[1, 0, 0, 0]]), floats),
        },
        Tolerance(),
    )
    assert agreement.passed
    assert agreement.nearest == {"ref": 0, "optimized": 1}
    assert describe(agreement) == "within 1 step and 0 of optimized"


def test_of_equally_near_paths_the_earlier_counts() -> None:
    paths = {"xnnpack": [[1, 0, 0, 0]], "optimized": [[0, 1, 0, 0]]}
    assert agree([[0, 0, 0, 0]], paths).nearest == {"optimized": 1, "xnnpack": 0}


def test_of_equally_near_paths_the_one_with_fewer_differences_counts() -> None:
    paths = {"ref": [[1, 1, 0, 0]], "optimized": [[0, 0, 1, 0]]}
    assert agree([[0, 0, 0, 0]], paths).nearest == {"ref": 0, "optimized": 1}


def test_when_nothing_is_allowed_the_plain_distance_chooses_the_path() -> None:
    paths = {"ref": [[12, 0, 0, 0]], "xnnpack": [[1, 0, 0, 0]]}
    agreement = agree([[0, 0, 0, 0]], paths, lsb=0)
    assert not agreement.passed
    assert agreement.nearest == {"ref": 0, "xnnpack": 1}


def test_a_pinned_path_is_the_only_one_that_counts() -> None:
    agreement = agree(
        [[0, 0, 0, 0]], {"ref": [[0, 0, 0, 5]], "xnnpack": [[0, 0, 0, 0]]}, reference="ref"
    )
    assert not agreement.passed
    assert agreement.nearest == {"ref": 1}
    assert agreement.distances == {"ref": 5, "xnnpack": 0}
    assert describe(agreement) == "5 steps from ref, allowed 1 step"


def test_a_pinned_path_that_failed_is_an_error_with_its_reason() -> None:
    with pytest.raises(ReferenceFailed, match="'xnnpack' did not run on the PC: too small"):
        compare(
            model(outputs=(INT8,)),
            (batch(ZEROS),),
            {"ref": (batch(ZEROS),)},
            Tolerance(reference="xnnpack"),
            failed_paths={"xnnpack": "too small"},
        )


def test_a_pinned_path_that_was_not_run_is_an_error() -> None:
    with pytest.raises(ReferenceFailed, match="'tensorflow' did not run on the PC: only ref did"):
        agree(ZEROS, {"ref": ZEROS}, reference="tensorflow")


def test_failed_paths_are_told() -> None:
    agreement = compare(
        model(outputs=(INT8,)),
        (batch(ZEROS),),
        {"ref": (batch(ZEROS),)},
        Tolerance(),
        failed_paths={"xnnpack": "too small"},
    )
    assert agreement.failed_paths == {"xnnpack": "too small"}
    assert "xnnpack kernels failed: too small" in failure_text(agreement)


@pytest.mark.parametrize(
    ("tolerance", "passed"),
    [
        ({}, False),
        ({"lsb": 2}, True),
        ({"lsb": 1.9}, False),
        ({"atol": 1.0}, True),  # 2 steps of 0.5
        ({"atol": 0.9}, False),
        ({"rtol": 0.25}, True),  # the PC's 5 is 1.0 real; 11 is 4.0 real
        ({"rtol": 0.2}, False),
        ({"lsb": 1, "atol": 100}, False),
    ],
)
def test_tolerance_of_an_integer_output(tolerance: dict[str, Any], passed: bool) -> None:
    assert agree([[13, 5, 3, 3]], {"ref": [[11, 5, 3, 3]]}, **tolerance).passed is passed


def test_the_limit_in_real_units_includes_a_step_of_a_rounded_scale() -> None:
    tenths = tensor("y", quantization=Quantization((float(np.float32(0.1)),), (0,), 0))
    assert agree([[1, 0, 0, 0]], {"ref": [[0, 0, 0, 0]]}, output=tenths, atol=0.1).passed


@pytest.mark.parametrize(
    ("board", "tolerance", "passed"),
    [
        (100.005, {}, True),  # 1e-4 of the peak, 100
        (100.02, {}, False),
        (100.02, {"lsb": 5}, False),
        (100.02, {"atol": 0.03}, True),
        (100.02, {"atol": 0.01}, False),
        (100.02, {"rtol": 3e-4}, True),
        (100.02, {"atol": 0.01, "rtol": 2e-4}, True),
    ],
)
def test_tolerance_of_a_float_output(board: float, tolerance: dict[str, Any], passed: bool) -> None:
    agreement = agree([[board, 0, 0, 0]], {"ref": [[100, 0, 0, 0]]}, output=FLOAT, **tolerance)
    assert agreement.passed is passed


def test_the_default_for_floats_holds_small_elements_against_the_peak_of_the_run() -> None:
    board, pc = [[1e-4, 0, 0, 0], [10.0, 0, 0, 0]], [[0.0, 0, 0, 0], [10.0, 0, 0, 0]]
    agreement = agree(board, {"ref": pc}, output=FLOAT)
    assert agreement.passed
    assert agreement.tolerance == "rtol 0.0001 of the output's peak"


def test_bools_must_be_equal() -> None:
    flags = tensor("y", (1, 4), "bool")
    pc = {"ref": [[True, False, True, False]]}
    assert agree([[True, False, True, False]], pc, output=flags, lsb=9).exact
    assert not agree([[True, True, True, False]], pc, output=flags, lsb=9, atol=9).passed


@pytest.mark.parametrize(
    ("board", "pc", "passed"),
    [
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, 1.0, False),
        (1.0, math.inf, False),
    ],
)
@pytest.mark.parametrize("tolerance", [{"nan": "allow"} | given for given in LOOSE])
def test_nan_and_infinity_are_equal_only_to_themselves(
    board: float, pc: float, passed: bool, tolerance: dict[str, Any]
) -> None:
    agreement = agree([[board, 1, 1, 1]], {"ref": [[pc, 1, 1, 1]]}, output=FLOAT, **tolerance)
    assert agreement.passed is passed
    assert not agreement.exact


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("tolerance", LOOSE)
def test_what_is_not_finite_fails_unless_it_is_declared(
    odd: float, tolerance: dict[str, Any]
) -> None:
    agreement = agree([[odd, 1, 1, 1]], {"ref": [[odd, 1, 1, 1]]}, output=FLOAT, **tolerance)
    assert not agreement.passed
    assert not agreement.exact
    assert agreement.outputs[0].elements_beyond == 1
    assert "not finite; output_tolerance(nan=" in failure_text(agreement)


def test_outputs_that_are_all_nan_are_never_bit_exact_nor_similar() -> None:
    rows = [[math.nan] * 4] * 2
    for nan, passed in (("fail", False), ("allow", True)):
        agreement = agree(rows, {"ref": rows}, output=FLOAT, nan=nan)
        (output,) = agreement.outputs
        assert agreement.passed is passed
        assert agreement.exact_paths == ()
        assert (output.cosine, output.nse, output.argmax_agreement) == (None, None, None)
        assert "output 'y': 8 of 8 elements are NaN" in describe(agreement)
        assert "8 of 8 elements are NaN" in agreement.warnings[0]
    assert "8 of 8 elements are NaN" in failure_text(agree(rows, {"ref": rows}, output=FLOAT))


def test_an_output_that_never_changes_is_warned_of() -> None:
    rows = [[1, 2, 3, 4]] * 3
    agreement = agree(rows, {"ref": rows})
    assert agreement.passed
    words = "output 'y' is the same for every input: these inputs tell little"
    assert agreement.warnings == (words,)
    assert describe(agreement) == f"bit-exact with ref; {words}"


def test_one_inference_says_nothing_of_change() -> None:
    assert agree([[1, 2, 3, 4]], {"ref": [[1, 2, 3, 4]]}).warnings == ()


def test_an_output_that_is_saturated_is_warned_of() -> None:
    rows = [[127, -128, -128, -128], [-128, 127, -128, -128]]
    assert "saturated in 100 % of its elements" in agree(rows, {"ref": rows}).warnings[0]
    rows[0][1] = 5  # 7 of 8: 87.5 %
    assert agree(rows, {"ref": rows}).warnings == ()


def test_an_output_of_no_elements_agrees() -> None:
    empty = np.empty((2, 1, 0), np.float32)
    outputs = (tensor("nothing", (1, 0), "float32"),)
    agreement = compare(model(outputs=outputs), (empty,), {"ref": (empty,)}, Tolerance())
    assert agreement.passed
    assert agreement.outputs[0].cosine is None
    assert describe(agreement) == "bit-exact with ref"


def test_tflm_counts_only_when_it_is_asked_for() -> None:
    paths = {"ref": [[9, 9, 9, 9]], "tflm": [[1, 2, 3, 4]]}
    assert not agree([[1, 2, 3, 4]], paths).passed
    agreement = agree([[1, 2, 3, 4]], {"tflm": paths["tflm"]}, reference="tflm")
    assert describe(agreement) == "bit-exact with tflm"


def test_nan_on_one_side_is_counted() -> None:
    agreement = agree([[math.nan, math.nan, 1, 1]], {"ref": [[math.nan, 1, 1, 1]]}, output=FLOAT)
    assert agreement.outputs[0].nan_mismatch == 1
    assert "1 of them NaN on one side only" in failure_text(agreement)


def test_differences_do_not_overflow() -> None:
    assert agree([[127, 0, 0, 0]], {"ref": [[-128, 0, 0, 0]]}).distances == {"ref": 255}
    wide = tensor("y", dtype="int64")
    limits = np.iinfo(np.int64)
    extreme = agree([[limits.max, 0, 0, 0]], {"ref": [[limits.min, 0, 0, 0]]}, output=wide)
    assert extreme.distances == {"ref": 2.0**64}


def test_metrics_of_an_integer_output() -> None:
    agreement = agree([[3, 5, 3, 3], [3, 3, 3, 7]], {"ref": [[3, 3, 3, 3], [3, 3, 3, 3]]}, lsb=2)
    (metrics,) = agreement.outputs
    assert (metrics.max_abs_steps, metrics.mean_abs_steps) == (4, 6 / 8)
    assert (metrics.max_abs_real, metrics.mean_abs_real) == (2, 3 / 8)
    assert metrics.rmse_real == pytest.approx(math.sqrt((1 + 4) / 8))
    assert (metrics.relative_l2, metrics.nse) == (None, None)  # the PC's 3 is 0 everywhere
    assert (metrics.elements, metrics.elements_beyond) == (8, 1)
    assert metrics.argmax_agreement == 0
    assert agreement.share_beyond == 1 / 8
    assert agreement.failed_inferences == (1,)


def test_metrics_of_a_float_output() -> None:
    agreement = agree([[3, 4, 0, 0]], {"ref": [[3, 0, 0, 0]]}, output=FLOAT)
    (metrics,) = agreement.outputs
    assert metrics.max_abs_steps is None
    assert (metrics.max_abs_real, metrics.rmse_real) == (4, 2)
    assert metrics.cosine == pytest.approx(0.6)
    assert metrics.relative_l2 == pytest.approx(4 / 3)
    assert metrics.nse == pytest.approx(1 - 16 / (9 * 3 / 4))
    assert agreement.distance_unit == "real"


def test_errors_of_an_integer_output_are_of_real_values() -> None:
    (metrics,) = agree([[5, 3, 1, 3]], {"ref": [[7, 3, 1, 3]]}).outputs  # the PC: 2, 0, -1, 0
    assert metrics.relative_l2 == pytest.approx(1 / math.sqrt(5))
    assert metrics.nse == pytest.approx(1 - 1 / (5 - 4 / 16))


def test_tflm_on_the_pc_is_never_the_nearest_path() -> None:
    agreement = agree([[0, 0, 0, 9]], {"ref": ZEROS[:1], "tflm": [[0, 0, 0, 9]]})
    assert not agreement.passed
    assert (agreement.nearest, agreement.distances) == ({"ref": 1}, {"ref": 9})


def test_argmax_agreement_is_a_share_of_inferences() -> None:
    board, pc = [[1, 0, 0, 0], [0, 0, 1, 0]], [[2, 0, 0, 0], [0, 1, 0, 0]]
    assert agree(board, {"ref": pc}).outputs[0].argmax_agreement == 0.5


def test_an_output_of_one_element_has_no_argmax() -> None:
    single = tensor("y", (1, 1))
    assert agree([[1]], {"ref": [[1]]}, output=single).outputs[0].argmax_agreement is None


@pytest.mark.parametrize(("other", "cosine"), [([0, 0, 0, 0], 1), ([1, 0, 0, 0], 0)])
def test_cosine_with_all_zeros(other: list[float], cosine: float) -> None:
    agreement = agree([other], {"ref": [[0, 0, 0, 0]]}, output=FLOAT)
    assert agreement.outputs[0].cosine == cosine


def test_the_worst_element_is_named() -> None:
    agreement = agree([[0, 0, 0, 0], [0, 4, 0, -9]], {"ref": ZEROS, "optimized": ZEROS})
    worst = agreement.worst
    assert worst is not None
    assert (worst.output, worst.name, worst.inference, worst.index) == (0, "y", 1, (0, 3))
    assert (worst.board, worst.pc, worst.path) == (-9, 0, "ref")
    assert (worst.steps, worst.real, worst.limit, worst.unit) == (9, 4.5, 1, "steps")


def test_the_text_of_a_failure() -> None:
    agreement = agree([[0, 0, 0, 0], [0, 4, 0, -9]], {"ref": ZEROS, "optimized": [[5] * 4] * 2})
    assert failure_text(agreement).splitlines() == [
        "output 0 'y', inference 1, element [0, 3]:",
        "  board -9, PC 0 (ref kernels)",
        "  9 steps (4.5) apart, limit 1 step",
        "output 'y': 2 of 8 elements (25 %) beyond 1 step",
        "inferences beyond the limit: 1 of 2 (number 1)",
        "nearest kernels: ref",
        "largest distance to each: ref 9 steps, optimized 14 steps",
    ]


def test_outputs_of_different_form_are_an_error() -> None:
    with pytest.raises(
        ReferenceFailed, match=r"board gave int8 \(2, 1, 4\), the PC \(ref kernels\)"
    ):
        compare(model(outputs=(INT8,)), (batch(ZEROS),), {"ref": (batch(ZEROS)[:1],)}, Tolerance())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lsb": -1}, "lsb must be at least 0"),
        ({"atol": math.nan}, "atol must be at least 0"),
        ({"rtol": math.inf}, "rtol must be at least 0"),
        ({"reference": "fast"}, "not one of auto, ref, optimized, xnnpack, tensorflow"),
    ],
)
def test_a_wrong_tolerance_is_an_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tolerance(**arguments)


def test_the_nearest_path_is_that_of_the_best_worst_output() -> None:
    """One output that is exact does not make up for another one that is far off."""
    outputs = (tensor("a"), tensor("b"))
    board = (batch([[0, 0, 0, 0]]), batch([[0, 0, 0, 0]]))
    by_path = {
        "ref": (batch([[0, 0, 0, 0]]), batch([[5, 0, 0, 0]])),
        "optimized": (batch([[2, 0, 0, 0]]), batch([[2, 0, 0, 0]])),
    }
    agreement = compare(model(outputs=outputs), board, by_path, Tolerance(lsb=2))
    assert agreement.passed
    assert agreement.nearest == {"ref": 0, "optimized": 1}


@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, ", ...")])
def test_ten_inferences_beyond_the_limit_are_numbered(count: int, more: str) -> None:
    agreement = agree([[9, 0, 0, 0]] * count, {"ref": [[0, 0, 0, 0]] * count})
    numbers = ", ".join(map(str, range(10)))
    line = f"inferences beyond the limit: {count} of {count} (number {numbers}{more})"
    assert line in failure_text(agreement).splitlines()


def test_kernels_are_told_the_most_frequent_first() -> None:
    agreement = agree(
        [[0, 0, 0, 0], [5, 5, 5, 5], [5, 5, 5, 5]],
        {"ref": [[0, 0, 0, 0]] * 3, "optimized": [[5, 5, 5, 5]] * 3, "xnnpack": [[9, 9, 9, 9]] * 3},
    )
    assert agreement.exact
    assert agreement.exact_paths == ()
    assert describe(agreement) == "bit-exact with optimized (2 of 3), ref (1 of 3)"
    assert "nearest kernels: optimized (2 of 3), ref (1 of 3)" in failure_text(agreement)


def test_an_agreement_is_exact_with_the_path_that_it_is_held_against() -> None:
    paths = {"ref": [[0, 0, 0, 1]], "xnnpack": [[0, 0, 0, 0]]}
    assert describe(agree([[0, 0, 0, 0]], paths, reference="ref")) == "within 1 step of ref"


def test_the_distance_is_that_of_the_farthest_output_of_its_unit() -> None:
    outputs = (tensor("a"), tensor("b"), tensor("c", (1, 4), "float32"))
    board = (batch(ZEROS[:1]), batch(ZEROS[:1]), batch([[9, 0, 0, 0]], "float32"))
    by_path = {
        "ref": (batch([[2, 0, 0, 0]]), batch([[3, 0, 0, 0]]), batch([[1, 0, 0, 0]], "float32"))
    }
    agreement = compare(model(outputs=outputs), board, by_path, Tolerance())
    assert (agreement.distance, agreement.distance_unit) == (3, "steps")
    assert describe(agreement).startswith("3 steps and 8 from ref, allowed ")


def test_a_failure_of_real_values_names_one_distance() -> None:
    agreement = agree([[1.5, 0, 0, 0]], {"ref": [[1.0, 0, 0, 0]]}, output=FLOAT, atol=0.25)
    assert failure_text(agreement).splitlines()[1:4] == [
        "  board 1.5, PC 1 (ref kernels)",
        "  0.5 apart, limit 0.25",
        "output 'y': 1 of 4 elements (25 %) beyond atol 0.25",
    ]


def test_of_several_paths_that_are_exact_the_first_is_told() -> None:
    agreement = agree(ZEROS, {"ref": ZEROS, "optimized": ZEROS, "xnnpack": ZEROS})
    assert agreement.exact_paths == ("ref", "optimized", "xnnpack")
    assert describe(agreement).startswith("bit-exact with ref; ")
