"""From a comparison to the row of the ledger: its status and its words."""

from __future__ import annotations

from pytest_autodeploy.baseline.comparison_text import block, headline
from pytest_autodeploy.baseline.format import Entry
from pytest_autodeploy.baseline.standard import place_of, standard_of
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.regression import LAYERS, NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.metrics.metric import row
from pytest_autodeploy.metrics.subject import Subject

FAILURES: dict[str, FailureClass] = {"regression": "regression", "cannot tell": "not judged"}
"""Of states; that of all others is ``not comparable``."""


def verdict(subject: Subject, declared: Declared, comparison: Comparison) -> Row:
    """How a comparison ended."""
    place = place_of(subject)
    text = headline(comparison)
    asked = place.compare or declared.origin != "default"
    status = status_of(comparison, asked=asked, exists=standard_of(subject).exists)
    if comparison.state == "no baseline" and place.update == "new":
        status = "no limit"
    if status in ("FAIL", "NOT JUDGED"):
        how = f"{declared.text} by {declared.origin}"
        lines = block(comparison, how, subject.board.model.sha256)
        text = "\n".join([f"{subject.title}: {text}", *lines])
    return row(declared, status, text, failure=FAILURES.get(comparison.state, "not comparable"))


def status_of(comparison: Comparison, *, asked: bool, exists: bool) -> Status:
    """What is not asked for is not red without a baseline; what has one never passes unjudged."""
    if comparison.state in ("within", "improved"):
        return "pass"
    if comparison.state == "regression":
        return "FAIL"
    unjudged = comparison.state in ("not comparable", "cannot tell") and exists
    return "NOT JUDGED" if asked or unjudged else "no limit"


def unmeasured(must: frozenset[str], limit: NoRegression, now: Entry) -> list[str]:
    """What was named and the test did not measure."""
    missing = [
        group
        for group in sorted(must - {LAYERS})
        if not set(limit.groups[group].measurements) & set(now.metrics)
    ]
    if LAYERS in must and now.layers is None:
        missing.append(LAYERS)
    return [f"{group} was not measured by this test" for group in missing]
