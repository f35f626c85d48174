"""Judging the limits of a test after its body; a red row fails the test."""

from __future__ import annotations

import functools

import pytest

from pytest_autodeploy.metrics.failures import classify
from pytest_autodeploy.plugin.characterization import keep_characterization
from pytest_autodeploy.plugin.explanation import add_explanation
from pytest_autodeploy.plugin.kept_arrays import keep_changed, keep_mismatch
from pytest_autodeploy.plugin.limits import limits_of
from pytest_autodeploy.plugin.over_pins import pins_run_of
from pytest_autodeploy.plugin.owed import note_judged, owes
from pytest_autodeploy.plugin.services import session_of
from pytest_autodeploy.plugin.state import ATTEMPTS, FAILURE, JUDGEMENT
from pytest_autodeploy.plugin.subject import estimate_of, subject_of

UNTRUSTED = ("wrong output", "unstable")
"""Classes of failures after which right outputs are not to be trusted."""


def after_call(item: pytest.Item) -> None:
    """Judge the limits; fail the test when a row is red."""
    if not any((session_of(item), estimate_of(item), pins_run_of(item))):
        return
    from pytest_autodeploy.metrics.judgement import judge
    from pytest_autodeploy.run.metrics import metrics

    owed = functools.partial(owes, item)
    judgement = judge(subject_of(item), limits_of(item), metrics(), owed)
    session = session_of(item)
    if session is not None and judgement.broke is None:
        judgement = add_explanation(item, session, judgement)
    item.stash[JUDGEMENT] = judgement
    note_judged(item, judgement.rows)
    if session is not None:
        keep_mismatch(item, session, judgement)
        keep_changed(item, judgement)
        keep_characterization(item, session, judgement)
    if judgement.broke is not None:
        raise judgement.broke
    if judgement.red:
        failure = judgement.red[0].failure or "other"
        item.stash[FAILURE] = failure
        text = "\n\n".join(row.message for row in judgement.red)
        pytest.fail(classify(failure, text), pytrace=False)
    _refuse_unstable(item)


def _refuse_unstable(item: pytest.Item) -> None:
    """Outputs that were wrong in an earlier attempt and are right now are not to be trusted."""
    wrong = [each for each in item.stash.get(ATTEMPTS, []) if each.failure in UNTRUSTED]
    if wrong:
        item.stash[FAILURE] = "unstable"
        count = len(item.stash[ATTEMPTS]) + 1
        text = f"outputs were wrong in an earlier attempt and are right in attempt {count}"
        pytest.fail(classify("unstable", f"{text}\n{wrong[0].message}"), pytrace=False)
