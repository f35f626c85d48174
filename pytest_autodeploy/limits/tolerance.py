"""How far an output of the board may be from the PC's."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_autodeploy.base.kernel_paths import ALL_PATHS

DEFAULT_LSB = 1.0
"""Steps that an integer output may be off: two correct kernels round a value that lies on the edge
between two steps to either side."""

DEFAULT_PEAK_RTOL = {"float16": 1e-3, "float32": 1e-4, "float64": 1e-4}
"""What a float output may be off, as a share of the largest magnitude of that output in the run.

The rounding error of an n-term float32 dot product is at most about n * 2**-24 of the sum of the
terms' magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), whatever
the order of summation. Firmware is built with -ffast-math and other kernels than the PC's, so the
order does differ; n is up to about 1000 in models of this size, which gives 6e-5: 1e-4. The error
does not shrink with a result that cancels to almost 0, so it is held against the peak and not
against each element. float16 results are rounded to 2**-11 of themselves: 1e-3.
"""


@dataclass(frozen=True)
class Tolerance:
    """Limits of the distance between board and PC.

    ``lsb``: quantisation steps, for integer outputs. ``atol``, ``rtol``: elementwise
    ``|board - pc| <= atol + rtol * |pc|`` in real (dequantised) units, for float outputs, and for
    integer outputs when ``lsb`` is None. What is not given for a kind of output is its default: 1
    step; 1e-4 of the output's peak. Bool outputs must be equal. ``reference``: ``auto`` for the
    nearest kernels, or the one set to hold outputs against: TFLM on this PC (``tflm``) for a
    model that LiteRT cannot run. ``nan``: whether outputs that are NaN or infinite ``fail``, or are
    allowed where the PC's are the same. Raises ValueError.
    """

    lsb: float | None = None
    atol: float | None = None
    rtol: float | None = None
    reference: str = "auto"
    nan: str = "fail"

    def __post_init__(self) -> None:
        for name in ("lsb", "atol", "rtol"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be at least 0, not {value!r}")
        _check("reference", self.reference, ("auto", *ALL_PATHS))
        _check("nan", self.nan, ("fail", "allow"))

    def in_steps(self, dtype: str) -> bool:
        """Whether outputs of this dtype are judged in steps rather than in real units."""
        if "float" in dtype:
            return False
        return dtype == "bool" or self.lsb is not None or not self.elementwise

    @property
    def elementwise(self) -> bool:
        """Whether a limit in real units was given."""
        return self.atol is not None or self.rtol is not None

    def text(self, dtype: str) -> str:
        """The limit for outputs of this dtype, such as ``1 step``."""
        if dtype == "bool":
            return "equal"
        if self.in_steps(dtype):
            return steps_text(DEFAULT_LSB if self.lsb is None else self.lsb)
        if not self.elementwise:
            return f"rtol {DEFAULT_PEAK_RTOL[dtype]:g} of the output's peak"
        given = (("atol", self.atol), ("rtol", self.rtol))
        return ", ".join(f"{name} {value:g}" for name, value in given if value is not None)


def _check(name: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(valid)}")


def steps_text(steps: float) -> str:
    """``1 step``, ``18 steps``."""
    return f"{steps:.6g} step{'' if steps == 1 else 's'}"
