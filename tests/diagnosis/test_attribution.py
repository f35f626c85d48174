"""The cause of a difference, judged from outputs alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.diagnosis.attribution import _rounded_up, advice, attribute
from pytest_autodeploy.diagnosis.evidence import Evidence, gather
from pytest_autodeploy.diagnosis.layers import compare_layers
from pytest_autodeploy.diagnosis.scene import Findings
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model, Operator
from tests.helpers.reference_stand_ins import model, tensor

MODEL = model(outputs=(tensor("y"),))
FLOAT_MODEL = model(outputs=(tensor("y", dtype="float32"),))


def off_by(steps: float, dtype: str = "int8") -> tuple[np.ndarray[Any, Any]]:
    """Outputs of two inferences, of which the second has an element that is so many steps off."""
    values = np.array([[1, 2, 3, 4], [5, 6, 7, 8]]).astype(dtype)
    values[1, 2] += steps
    return (values,)


def evidence(
    of: Model, board: float, tolerance: Tolerance | None = None, **changes: Any
) -> Evidence:
    """The board and the sides, each so many steps off; the test counts ref to xnnpack."""
    sides = {"ref": 0, "optimized": 0, "xnnpack": 0} | changes.pop("sides", {})
    dtype = of.outputs[0].dtype
    arguments: dict[str, Any] = {
        "counting": ("ref", "optimized", "xnnpack"),
        "repeats": [off_by(board, dtype)] * 2,
    }
    return gather(
        of,
        off_by(board, dtype),
        {side: off_by(steps, dtype) for side, steps in sides.items()},
        tolerance or Tolerance(lsb=1),
        **(arguments | changes),
    )


def test_a_board_that_is_bit_exact_with_tflm_shows_that_the_runtimes_differ() -> None:
    found = attribute(evidence(MODEL, 5, sides={"tflm": 5}))
    assert found.cause == "runtime"
    assert "the board is bit-exact with TFLM on the PC" in found.lines
    assert (
        "board and TFLite on the PC: ref 5 steps, optimized 5 steps, xnnpack 5 steps" in found.lines
    )


def test_a_board_that_agrees_with_neither_is_suspect() -> None:
    found = attribute(evidence(MODEL, 5, sides={"tflm": 0}))
    assert found.cause == "board"
    assert "board and TFLM on the PC: off by 5 steps" in found.lines
    assert "the board gave the same in 2 repeats" in found.lines


def test_a_board_that_disagrees_with_itself_is_not_compared_with_others() -> None:
    found = attribute(evidence(MODEL, 5, sides={"tflm": 5}, repeats=[off_by(5), off_by(0)]))
    assert found.cause == "unstable"
    assert found.lines == (
        "1 output element in 1 inference changed in 2 repeats with the same inputs",
    )


def test_repeats_that_agree_among_themselves_met_another_state_than_the_first_run() -> None:
    found = attribute(evidence(MODEL, 5, repeats=[off_by(0), off_by(0)]))
    assert found.cause == "unstable"
    assert found.lines[0].endswith(
        "the repeats agree among themselves: the first run met another state"
    )


def test_a_pinned_path_that_fails_alone_is_the_pcs() -> None:
    sides = {"xnnpack": 9, "tflm": 0}
    found = attribute(evidence(MODEL, 0, counting=("xnnpack",), sides=sides))
    assert found.cause == "pc"
    assert any("ref agrees, and the test counts xnnpack only" in line for line in found.lines)


def test_paths_that_are_as_far_apart_as_the_board_is_off_are_the_cause() -> None:
    """The board is between two paths that are 12 steps apart, 6 from each."""
    found = attribute(evidence(MODEL, 6, sides={"xnnpack": 12, "tflm": 0}))
    assert found.cause == "pc"
    assert (
        "ref and xnnpack on the PC are 12 steps apart, at least as much as the board is off"
        in found.lines
    )


def test_a_board_with_the_pcs_own_kernels_has_no_excuse_in_the_spread_of_the_paths() -> None:
    """It computes with the very TFLM that passes here."""
    found = attribute(evidence(MODEL, 6, sides={"xnnpack": 12, "tflm": 0}, exact_expected=True))
    assert found.cause == "board"
    assert (
        "board and TFLM on the PC: off by 6 steps, though both run the same kernels" in found.lines
    )


def test_kernels_that_only_round_otherwise_than_tflm_are_another_runtime() -> None:
    """The board is 1 step from TFLM, which is 1 step from the paths: 2 steps in the end."""
    found = attribute(evidence(MODEL, 2, sides={"tflm": 1}))
    assert found.cause == "runtime"
    assert "board and TFLM on the PC: within 1 step" in found.lines


def test_both_the_runtimes_and_the_paths_of_the_pc_differ() -> None:
    found = attribute(evidence(MODEL, 6, sides={"xnnpack": 12, "tflm": 6}))
    assert found.cause == "runtime"
    assert (
        "ref and xnnpack on the PC are 12 steps apart, at least as much as the board is off"
        in found.lines
    )


def test_without_tflm_on_the_pc_the_cause_stays_open() -> None:
    missing = {"TFLM on the PC": "it needs pip install 'pytest-autodeploy[sim]'"}
    found = attribute(evidence(MODEL, 5, missing=missing))
    assert found.cause == "open"
    assert (
        "TFLM on the PC was not asked: it needs pip install 'pytest-autodeploy[sim]'" in found.lines
    )


def test_a_nan_that_tflm_gives_too_is_the_runtimes() -> None:
    found = attribute(evidence(FLOAT_MODEL, np.nan, Tolerance(atol=1), sides={"tflm": np.nan}))
    assert found.cause == "runtime"
    assert any("ref a NaN or an infinity on one side only" in line for line in found.lines)


def test_a_nan_of_the_board_alone_is_not_covered_by_a_nan_between_paths() -> None:
    board_nan = evidence(FLOAT_MODEL, np.nan, Tolerance(atol=1), sides={"tflm": 0, "xnnpack": 3})
    assert attribute(board_nan).cause == "board"


def test_only_failed_inferences_have_to_be_covered_by_the_spread() -> None:
    assert evidence(MODEL, 6, sides={"xnnpack": 12}).spread_covers
    assert not evidence(MODEL, 6, sides={"xnnpack": 1}).spread_covers


def test_a_wrong_loop_may_be_wrong_inside() -> None:
    """Its operators are not compared one by one."""
    made, given = MODEL.outputs[0], tensor("x")
    loop = Operator(0, 0, "WHILE", False, None, (given,), (made,), None)
    board, pc = ({made.index: side[0][:1]} for side in (off_by(9), off_by(0)))
    (layer,) = compare_layers(model(outputs=(made,), operators=(loop,)), board, pc, {"ref": pc})
    (first,) = advice("board", evidence(MODEL, 9), Findings((layer,), layer))
    assert first.startswith("check the kernels of the operators inside of WHILE, and its own,")


@pytest.mark.parametrize(
    "distance", [0.0121, 0.1, 1.0000001, 9.95, 99.1, 1e-9, 3.3333e-5, 0.99999, 123456.0]
)
def test_the_tolerance_that_is_advised_would_have_passed(distance: float) -> None:
    assert distance <= float(_rounded_up(distance)) <= 1.11 * distance
