"""The two lines from the board, in a stream of samples: when a level really changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.power.meter import IN0, IN1

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_autodeploy.power.meter import Codes

HOLD_S = 20e-6
"""A level that is held for a shorter time is a glitch: a board sets its pins one after another, and
a line that is not terminated picks up what its neighbours do."""

NAMES = {IN0: "In0", IN1: "In1"}


def level_changes(lines: Codes, level: int, hold: int) -> tuple[list[tuple[int, int]], int]:
    """Where samples leave ``level``, and the level after that: [(index, level), ...].

    A run of fewer than ``hold`` samples changes nothing. The second value is the number of samples
    that are decided: the rest may turn out either way when more are known.
    """
    import numpy as np

    count = len(lines)
    edges = np.flatnonzero(lines[1:] != lines[:-1])
    if not len(edges) and lines[0] == level:
        return [], count
    starts = np.concatenate(([0], edges + 1))
    lengths = np.diff(starts, append=count)
    changes: list[tuple[int, int]] = []
    for index in np.flatnonzero(lengths >= hold):
        start = int(starts[index])
        if lines[start] != level:
            level = int(lines[start])
            changes.append((start, level))
    undecided = lengths[-1] < hold and lines[-1] != level
    return changes, int(starts[-1]) if undecided else count


def line_names(bits: int) -> list[str]:
    """The names of the lines in a set of bits."""
    return [name for bit, name in NAMES.items() if bits & bit]


def bits_of(levels: Iterable[int]) -> int:
    """The lines that were high in any of the levels."""
    bits = 0
    for level in levels:
        bits |= level
    return bits
