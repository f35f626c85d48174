"""After a test whose outputs differ: why they do, in its failure, its record and its reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.metrics.failures import CLASSES
from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.limits.declarations import Declared
    from pytest_autodeploy.metrics.judge import Judgement
    from pytest_autodeploy.session.model_session import ModelSession


def explained(
    item: pytest.Item, session: ModelSession, judgement: Judgement, limits: Mapping[str, Declared]
) -> Judgement:
    """Add to the judgement of a test why its outputs differ, as far as it is asked for.

    Whatever goes wrong in finding that out becomes a line of the failure, and no more.
    """
    mode, agreement = settings_of(item.config).explain, judgement.agreement
    if agreement is None or mode == "off" or (agreement.passed and mode != "layers"):
        return judgement
    try:
        explanation = _explanation(session, judgement, limits)
        explanation = replace(explanation, requested=mode == "layers")
    except Exception as error:  # the failure itself is what has to be seen
        words = " ".join(str(error).split()) or type(error).__name__
        return _because(judgement, f"why: could not be found out: {words}")
    judgement = replace(judgement, explanation=explanation)
    if agreement.passed:
        return judgement
    from pytest_autodeploy.diagnosis.explanation import text

    return _because(judgement, text(explanation))


def _explanation(
    session: ModelSession, judgement: Judgement, limits: Mapping[str, Declared]
) -> Explanation:
    from pytest_autodeploy.diagnosis.explain import explain

    run, agreement = session.measured.run, judgement.agreement
    tolerance = limits["output_tolerance"].limit
    assert run is not None
    assert agreement is not None
    assert isinstance(tolerance, Tolerance)
    return explain(session, run, agreement, tolerance)


def _because(judgement: Judgement, why: str) -> Judgement:
    """The judgement, with the cause told by the verdict over its outputs."""
    verdicts = (
        replace(verdict, why=why)
        if verdict.failure == CLASSES[0] and verdict.passed is False
        else verdict
        for verdict in judgement.verdicts
    )
    return replace(judgement, verdicts=tuple(verdicts))
