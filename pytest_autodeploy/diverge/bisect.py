"""Bisection for the operator that makes a wrong value from right ones."""

from __future__ import annotations

from collections.abc import Callable

Differs = Callable[[int], bool | None]
"""Whether a side differs after the operator at a position; None where that cannot be known."""


def first_wrong(count: int, differs: Differs) -> tuple[int, int]:
    """The operators ``(after, at)``: after the one all was right, after the other it was not.

    ``after`` is -1 for the inputs of the model; what differs after the last of ``count`` operators
    is known. At most ceil(log2(count)) positions are looked at. That what is wrong once may be
    right again later (a clipped value) does no harm: the two operators always enclose the place
    where right values became wrong. They are neighbours unless no position between them can be
    known.
    """
    low, high = -1, count - 1
    unknown: set[int] = set()
    while position := _middle(low, high, unknown):
        wrong = differs(position[0])
        if wrong is None:
            unknown.add(position[0])
        elif wrong:
            high = position[0]
        else:
            low = position[0]
    return low, high


def _middle(low: int, high: int, unknown: set[int]) -> tuple[int, ...]:
    """The position between the two that is nearest to their middle, as one or no element."""
    middle = (low + high) // 2
    between = [position for position in range(low + 1, high) if position not in unknown]
    return tuple(sorted(between, key=lambda position: abs(position - middle))[:1])
