"""A fault that is injected into an operator: what becomes of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.sim.tflm import DTYPES

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CORRUPT, ROUND = "corrupt-op", "round-op"

ROUND_STRIDE = 5
"""One in so many elements of a rounded tensor is off, from the first one on."""


@dataclass(frozen=True)
class OperatorFault:
    """The fault ``kind`` of the operator at a position of the main subgraph.

    ``name`` stands in place of the position, for the first operator of that name.
    """

    kind: str
    operator: int = -1
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name or self.operator}"

    def can_change(self, dtype: str) -> bool:
        """Whether tensors of this type have other values, or a step to be off by."""
        return dtype in DTYPES and (dtype, self.kind) != ("bool", ROUND)

    def spoil(self, values: Array) -> Array:
        """What the operator gives in place of ``values``; never changes its argument."""
        return _corrupt(values) if self.kind == CORRUPT else _round(values)


def _corrupt(values: Array) -> Array:
    """Another value in every element: a bit flipped, of floats 1 + |x| added."""
    import numpy as np

    corrupted = values.copy()
    if values.dtype.kind == "f":
        corrupted += 1 + np.abs(values)
    else:
        corrupted ^= values.dtype.type(1 if values.dtype == np.bool_ else 0x40)
    return corrupted


def _round(values: Array) -> Array:
    """Some elements one step off, away from the end of their range; booleans stay.

    A float is off by its type's epsilon (2**-23 of float32) of the tensor's largest magnitude.
    """
    import numpy as np

    rounded = values.copy()
    some = rounded.reshape(-1)[::ROUND_STRIDE]
    if values.dtype.kind == "f":
        some += np.finfo(values.dtype).eps * (np.max(np.abs(values), initial=0) or 1)
    elif values.dtype != np.bool_:
        at_end = some == np.iinfo(values.dtype).max
        some += np.where(at_end, -1, 1).astype(values.dtype)
    return rounded
