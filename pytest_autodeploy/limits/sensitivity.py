"""How many operators the inputs of a test have to be able to judge."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.numbers import check_choice

CHANGES = ("64 steps", "1 step", "channel")
"""What an operator's outputs are changed by: all elements, some by one step, one channel only."""

STEPS, STEP, CHANNEL = CHANGES


@dataclass(frozen=True)
class SensitivityLimit:
    """The least share of operators whose ``change`` has to show in the outputs."""

    min: float
    change: str = STEPS


def input_sensitivity(*, min: float, change: str = STEPS) -> SensitivityLimit:  # noqa: A002
    """Declare the share of operators, 0 to 1, that the inputs have to notice when they are wrong.

    Wrong by the ``change``: "64 steps" in every element of what the operator gives, "1 step" in
    every fifth, or 64 steps in one "channel" only.
    """
    if min is None:
        raise TypeError("min must be a number, not None")
    check_number("min", min, most=1)
    check_choice("change", change, CHANGES)
    return SensitivityLimit(min, change)


DECLARATION = Declaration(
    name="input_sensitivity",
    signature=input_sensitivity,
    flag="--tflite-input-sensitivity",
    marker_help="at least that share of the operators would be noticed by the inputs of the test "
    'if they were wrong: by 64 steps, or as change says: "64 steps", "1 step", "channel"',
    option_help="Least share of operators that the inputs of the built-in output test would notice "
    "if they were wrong, such as min=0.8 or min=0.5,change=1 step",
    suite_test="test_outputs_agree",
    which=("change",),
)
