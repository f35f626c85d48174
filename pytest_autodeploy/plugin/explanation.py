"""After a test whose outputs differ: why they do, in its failure, its record and its reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.session.model_session import ModelSession


def add_explanation(item: pytest.Item, session: ModelSession, judgement: Judgement) -> Judgement:
    """Add to the judgement of a test why its outputs differ, as far as it is asked for.

    Whatever goes wrong in finding that out becomes a line of the failure, and no more.
    """
    mode, agreement = settings_of(item.config).explain, judgement.evidence.agreement
    if agreement is None or mode == "off" or (agreement.passed and mode != "layers"):
        return judgement
    try:
        explanation = _explanation(session, judgement)
        explanation = replace(explanation, requested=mode == "layers")
    except Exception as error:  # the failure itself is what has to be seen
        text = " ".join(str(error).split()) or type(error).__name__
        return judgement.because(f"why: could not be found out: {text}")
    judgement = replace(judgement, explanation=explanation)
    if agreement.passed:
        return judgement
    from pytest_autodeploy.diagnosis.explanation import text as explanation_text

    return judgement.because(explanation_text(explanation))


def _explanation(session: ModelSession, judgement: Judgement) -> Explanation:
    from pytest_autodeploy.base.progress import show_task
    from pytest_autodeploy.diagnosis.explain import explain

    run, evidence = session.measured.run, judgement.evidence
    assert run is not None
    assert evidence.agreement is not None
    assert evidence.tolerance is not None
    with show_task(f"finding out why outputs of {session.model.name} differ"):
        return explain(session, run, evidence.agreement, evidence.tolerance)
