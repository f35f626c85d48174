"""What is done to the outputs of an operator to see whether anybody notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.limits.sensitivity import CHANNEL, STEP, STEPS
from pytest_autodeploy.sim.operator_fault import CORRUPT, ROUND, OperatorFault

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.model.graph import Operator, Tensor

    Array = np.ndarray[Any, Any]

CHANNELS = 4
"""Channels of a tensor that are changed, one at a time: an operator of 256 has no time for all."""

_KINDS = {STEPS: CORRUPT, STEP: ROUND, CHANNEL: CORRUPT}


def can_change(change: str, dtype: str) -> bool:
    """Whether tensors of this type have other values, or a step to be off by."""
    return OperatorFault(_KINDS[change], 0).can_change(dtype)


def changeable(operator: Operator, change: str) -> list[Tensor]:
    """The outputs of an operator that a change has an effect on."""
    return [tensor for tensor in operator.outputs if can_change(change, tensor.dtype)]


def variants(change: str, shape: Sequence[int]) -> list[int | None]:
    """The ways in which a change is made to a tensor: None for all of it, or a channel each.

    The channels of a tensor are its last dimension. Those that are changed lie equally far apart.
    """
    channels = shape[-1] if change == CHANNEL and shape else 1
    if channels < 2:
        return [None]
    count = min(CHANNELS, channels)
    return [(2 * number + 1) * channels // (2 * count) for number in range(count)]


def changed(change: str, values: Array, channel: int | None) -> Array:
    """The values with the change in them; the argument stays as it is.

    "64 steps" and "channel" are the fault ``corrupt-op`` of simulated boards: 64 steps up or down
    in every element, a bit of other integers, 1 + |x| of floats. "1 step" is ``round-op``: a step
    in every fifth element, of floats the epsilon of the largest magnitude.
    """
    other = OperatorFault(_KINDS[change], 0).spoil(values)
    if channel is None:
        return other
    mixed = values.copy()
    mixed[..., channel % values.shape[-1]] = other[..., channel % values.shape[-1]]
    return mixed
