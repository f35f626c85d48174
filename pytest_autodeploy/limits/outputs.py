"""How far outputs may differ from the PC's."""

from __future__ import annotations

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration, Group
from pytest_autodeploy.limits.tolerance import Tolerance

FLOOR_STEPS = 1
FLOOR_REAL = 1e-6


def output_tolerance(
    *,
    lsb: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    reference: str = "auto",
    nan: str = "fail",
) -> Tolerance:
    """Declare how far outputs may differ from the PC's, and whether they may be NaN or infinite."""
    for name, value in (("lsb", lsb), ("atol", atol), ("rtol", rtol)):
        check_number(name, value)
    return Tolerance(lsb, atol, rtol, reference, nan)


def _floor(unit: str, baseline: float) -> float:
    """One step; a distance of real values may double."""
    return FLOOR_STEPS if unit == "steps" else max(baseline, FLOOR_REAL)


DECLARATION = Declaration(
    name="output_tolerance",
    signature=output_tolerance,
    flag="--tflite-tolerance",
    marker_help="outputs differ from the PC's by at most lsb steps (integers) or atol + rtol * "
    '|pc|; reference "auto" (the default: the nearest kernels), "ref", "optimized", "xnnpack", '
    '"tensorflow" or "tflm"; nan "allow" for outputs that are NaN or infinite on the PC, too',
    option_help="Tolerance of the built-in output test, such as lsb=1 or atol=1e-3,rtol=1e-2",
    suite_test="test_outputs_agree",
    which=("reference",),
    groups=(Group("outputs", ("output_distance",), 0, floor=_floor),),
    default={"lsb": 1},
    aliases=("--tflite-output-tolerance",),
)
