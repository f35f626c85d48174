"""Confirming a regression by more starts of the board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_autodeploy.baseline.compare import state_of
from pytest_autodeploy.baseline.enough import Enough
from pytest_autodeploy.baseline.judgement import unconfirmed
from pytest_autodeploy.metrics.comparison import Comparison


def confirm(compared: Callable[[], Comparison], enough: Enough) -> Comparison:
    """A comparison whose regressions were seen in as many starts of the board as it takes.

    Where too few starts could be made, such a regression cannot be told.
    """
    comparison = compared()
    more = {each.name: each.more_starts for each in comparison.rows if each.more_starts}
    if not more:
        return comparison
    if enough.start_anew(max(more.values()), more):
        comparison = compared()
    return _with_unconfirmed(comparison)


def _with_unconfirmed(comparison: Comparison) -> Comparison:
    """The comparison, in which a regression that takes more starts to be sure of cannot be told."""
    rows = tuple(
        unconfirmed(each) if each.state == "regression" and each.more_starts else each
        for each in comparison.rows
    )
    layers = comparison.layers if comparison.layers_judged else ()
    state = state_of([*rows, *layers], comparison.reasons, comparison.missing)
    return replace(comparison, rows=rows, state=state)
