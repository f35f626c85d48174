"""A test's record as what other reports attach to the test: plain data, and a page."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.base.json_text import indented
from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.metrics.record import TestRecord, to_plain
from pytest_autodeploy.report.figures import title
from pytest_autodeploy.report.record_html import record_html

_KEPT = ("model", "board", "outcome", "failure_class", "measurements", "verdicts", "accuracy")


def attachment(record: TestRecord) -> dict[str, Any]:
    """Model, board, measurements and limits, as in the result file; without layers and samples."""
    plain = to_plain(record)
    plain["model"].pop("layers", None)
    return {name: plain[name] for name in _KEPT if plain.get(name) is not None}


def attachment_json(record: TestRecord) -> str:
    """The same as the text of a JSON file."""
    return indented(attachment(record), 1)


def attachment_page(record: TestRecord) -> str:
    """All details of the record as a page of its own."""
    from markupsafe import Markup

    details = Markup(record_html(record))  # noqa: S704  # escaped by its templates
    return render_html("html/page", title=title(record), details=details)
