"""What a test allows compared with its baseline: the limit that ``no_regression`` declares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

OFF = "off"

DEFAULT_PERCENT: Mapping[str, float] = {
    "latency": 5,
    "energy": 5,
    "arena": 0,
    "model_size": 1,
    "outputs": 0,
    "per_layer": 10,
}
DEFAULT_FLOOR_US = 10.0
DEFAULT_FLOOR_UJ = 0.1
FLOOR_BYTES = 1024
"""Of the model file, whose names and metadata vary; the arena has none."""

FLOOR_STEPS = 1
FLOOR_REAL = 1e-6


@dataclass(frozen=True)
class NoRegression:
    """How much worse than its baseline a value may be.

    ``percent`` has a share per group, None for a group that is not compared. ``asked`` are the
    groups that were named: these must have been measured.
    """

    percent: Mapping[str, float | None] = field(default_factory=lambda: dict(DEFAULT_PERCENT))
    floor_us: float = DEFAULT_FLOOR_US
    floor_uj: float = DEFAULT_FLOOR_UJ
    asked: frozenset[str] = frozenset()

    def floor(self, group: str, unit: str, baseline: float) -> float:
        """The absolute floor of a group, in its unit.

        Times: ``floor_us``; energy: ``floor_uj``; model size: 1 KB; outputs: one step, or for
        float outputs the baseline itself (a distance may double) and at least 1e-6.
        """
        if group in ("latency", "per_layer"):
            return self.floor_us
        if group == "energy":
            return self.floor_uj
        if group == "outputs":
            return FLOOR_STEPS if unit == "steps" else max(baseline, FLOOR_REAL)
        return FLOOR_BYTES if group == "model_size" else 0.0


def no_regression(
    *,
    latency: str | None = None,
    energy: str | None = None,
    arena: str | None = None,
    model_size: str | None = None,
    outputs: str | None = None,
    per_layer: str | None = None,
    floor_us: float = DEFAULT_FLOOR_US,
    floor_uj: float = DEFAULT_FLOOR_UJ,
) -> NoRegression:
    """Declare how much worse than the baseline a model may be.

    Percentages such as ``"5%"``, or ``"off"``. Defaults: latency 5 %, energy 5 %, arena 0 %,
    model_size 1 %, outputs 0 %, per_layer 10 %.
    """
    given = {
        "latency": latency,
        "energy": energy,
        "arena": arena,
        "model_size": model_size,
        "outputs": outputs,
        "per_layer": per_layer,
    }
    percent = {
        group: DEFAULT_PERCENT[group] if text is None else _percent(group, text)
        for group, text in given.items()
    }
    if all(value is None for value in percent.values()):
        raise ValueError("everything is off: nothing is left to compare")
    for name, value in (("floor_us", floor_us), ("floor_uj", floor_uj)):
        _check_floor(name, value)
    asked = frozenset(group for group, text in given.items() if text and percent[group] is not None)
    return NoRegression(percent, float(floor_us), float(floor_uj), asked)


def _percent(group: str, text: object) -> float | None:
    if not isinstance(text, str):
        raise TypeError(f"{group} must be a percentage such as '5%', or 'off', not {text!r}")
    if text == OFF:
        return None
    number, sign, rest = text.partition("%")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not sign or rest or not math.isfinite(value) or value < 0:
        raise ValueError(f"{group} must be a percentage such as '5%', or 'off', not {text!r}")
    return value


def _check_floor(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be at least 0, not {value!r}")
