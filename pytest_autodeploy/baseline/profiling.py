"""The profiles behind the times of layers, and more of them where these tell nothing."""

from __future__ import annotations

from pytest_autodeploy.baseline.enough import Enough
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.session.model_session import ModelSession

PROFILES = 10
"""Inferences behind the time of a layer."""

OF_BASELINE = 30
MOST = 100


def profile(session: ModelSession, *, baseline: bool) -> None:
    """Profile as often as a comparison needs, or a baseline on a board with noise."""
    wanted = OF_BASELINE if baseline and not session.kind.exact else PROFILES
    known = session.measured.profile
    if known is None:
        session.profile(repeats=wanted)
    elif known.repeats < wanted:
        session.profile(known.run, wanted)


def more_profiles(session: ModelSession, comparison: Comparison, enough: Enough) -> bool:
    """Profile three times as often when layers cannot be told; False when that was all."""
    known = session.measured.profile
    noise = any(row.state == "cannot tell" and row.by == "repeats" for row in comparison.layers)
    if not noise or known is None or known.repeats >= MOST or not enough.time_left:
        return False
    session.profile(known.run, min(MOST, 3 * known.repeats))
    return True
