"""The profiles behind the times of layers, and more of them where these tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_autodeploy.baseline.enough import Enough
from pytest_autodeploy.baseline.standard import entry_now, standard_of
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.metric import Metric
from pytest_autodeploy.metrics.subject import Subject
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


def blamed(
    subject: Subject, metrics: Sequence[Metric], limit: NoRegression, comparison: Comparison
) -> Comparison:
    """The comparison, with the layers that account for a slower inference."""
    standard, session = standard_of(subject), subject.board
    now = entry_now(subject, metrics, limit)
    entry = standard.entry(now.conditions.clock)
    slower = any(
        each.state == "regression" and limit.group_of(each.name) == "latency"
        for each in comparison.rows
    )
    if not slower or now.layers or not (entry and entry.layers and session.has_profile):
        return comparison
    profile(session, baseline=False)
    layers = entry_now(subject, metrics, limit).layers
    return standard.compared(replace(now, layers=layers), limit, judge_layers=False)
