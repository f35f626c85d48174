"""The details of a test for pytest-html; everything that comes from a model is escaped.

pytest-html keeps the details of all tests in one HTML attribute, where each quote costs six bytes:
the templates leave out quotes where they can, and the style stands once, in the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.report.accuracy import accuracy_parts
from pytest_autodeploy.report.agreement import (
    agreement_columns,
    agreement_figures,
    agreement_text,
)
from pytest_autodeploy.report.artifacts import artifact_figures, footprint_columns
from pytest_autodeploy.report.attempts import message_parts
from pytest_autodeploy.report.baseline_html import comparison_html
from pytest_autodeploy.report.explanation import explanation_parts
from pytest_autodeploy.report.figures import figures, model_text, ran_on, title
from pytest_autodeploy.report.pictures import pictures
from pytest_autodeploy.report.sensitivity import sensitivity_about, sensitivity_columns
from pytest_autodeploy.report.verdicts import verdict_rows

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord


def extra_html(record: TestRecord) -> str:
    """The details of a test as one fragment of HTML; parts that it does not have are left out.

    The layers are those of the profile, else the static ones of the model.
    The link to the CSV carries the whole file, so it works from any report.
    """
    from markupsafe import Markup

    agreement, sensitivity = record.agreement, record.sensitivity
    return render_html(
        "html/test",
        title=title(record),
        board_source=record.board.source or "",
        ran_on=ran_on(record.board),
        **message_parts(record),
        model_facts=model_text(record.model),
        figures=figures(record),
        agreement=agreement_figures(agreement) if agreement else [],
        agreement_columns=agreement_columns(agreement) if agreement else [],
        agreement_text=agreement_text(agreement) if agreement else "",
        passed=bool(agreement and agreement.passed),
        sensitivity=sensitivity.text if sensitivity else "",
        sensitivity_about=sensitivity_about(sensitivity) if sensitivity else "",
        sensitivity_columns=sensitivity_columns(sensitivity) if sensitivity else [],
        accuracy=accuracy_parts(record),
        explanation=explanation_parts(record),
        verdicts=verdict_rows(record),
        artifacts=artifact_figures(record.artifacts),
        footprint=footprint_columns(record.artifacts),
        comparison=Markup(comparison_html(record)),  # noqa: S704  # escaped by its template
        **pictures(record),
    )
