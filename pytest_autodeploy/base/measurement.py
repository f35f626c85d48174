"""A measurement: a number that carries its unit, its source and which direction is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.repeats import Repeats

Source = Literal[
    "measured",
    "emulated",
    "modelled",
    "estimated",
    "exact",
    "stock firmware, model not proven",
]
"""Where a value comes from: hardware, an emulator, a simulated board, static analysis; ``exact`` is
what this PC knows for certain, such as the size of a file. The last is hardware that does not say
which model it runs."""

UNPROVEN: Source = "stock firmware, model not proven"

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True)
class Measurement:
    """One value. ``name`` ends without its unit; ``unit`` is a base unit (us, B, uJ, Hz, 1).

    ``spread`` is the standard deviation of the ``repeats`` behind the value without outliers, in
    its unit; ``repeated`` says more of them, None of a value that is the same each time. Counts and
    bytes are whole numbers, which they stay in reports and files.
    """

    name: str
    value: int | float
    unit: str
    better: Better
    source: Source
    note: str = ""
    spread: float | None = None
    repeats: int = 1
    repeated: Repeats | None = None
