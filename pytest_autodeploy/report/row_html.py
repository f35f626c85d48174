"""What a test's row in the HTML report shows: what is the test's own; figures are on its card."""

from __future__ import annotations

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.report.agreement import (
    agreement_columns,
    agreement_figures,
    agreement_text,
)
from pytest_autodeploy.report.anchors import card_id
from pytest_autodeploy.report.attempts import message_parts
from pytest_autodeploy.report.baseline_html import comparison_html
from pytest_autodeploy.report.explanation import explanation_parts
from pytest_autodeploy.report.figures import title
from pytest_autodeploy.report.standing import FAILING
from pytest_autodeploy.report.verdicts import verdict_rows


def row_html(record: TestRecord) -> str:
    """How it failed and what its limits say; of one that failed also by how much, and why."""
    from markupsafe import Markup

    board, failed = record.board, record.outcome in FAILING
    agreement = record.agreement if failed else None
    comparison = comparison_html(record) if failed else ""
    return render_html(
        "html/row",
        title=title(record),
        card=card_id(record.model.id, board.id or "", board.clock or ""),
        **message_parts(record),
        agreement_text=agreement_text(record.agreement) if record.agreement else "",
        passed=bool(record.agreement and record.agreement.passed),
        agreement=agreement_figures(agreement) if agreement else [],
        agreement_columns=agreement_columns(agreement) if agreement else [],
        explanation=explanation_parts(record) if failed else None,
        verdicts=verdict_rows(record),
        comparison=Markup(comparison),  # noqa: S704  # escaped by its template
    )
