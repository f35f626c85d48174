"""What a report carries of a test's record for others: a section, JUnit, Allure, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.problems import part_of
from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord


ALLURE = "allure_listener"
"""What allure-pytest registers where ``--alluredir`` asks for a report."""


def attach(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """Put on the report what others than this plugin show of the record."""
    if record.log:
        report.sections.append(("Log of the board", record.log))
    with part_of(report, "the JUnit properties"):
        _set_properties(item, report, record)
    if item.config.pluginmanager.has_plugin(ALLURE):
        with part_of(report, "the attachments in Allure"):
            _attach_to_allure(record)
    if not item.config.getoption("htmlpath", None):
        return
    from pytest_autodeploy.report.row_html import row_html

    with part_of(report, "the details in the HTML report"):
        extra = {
            "name": "model",
            "format_type": "html",
            "content": row_html(record),
            "mime_type": None,
            "extension": None,
        }
        report.extras = [*getattr(report, "extras", []), extra]  # type: ignore[attr-defined]


def _attach_to_allure(record: TestRecord) -> None:
    """To the test that runs: its record as JSON and as a page, and the log of the board."""
    import allure

    from pytest_autodeploy.report.attachment import attachment_json, attachment_page

    kinds = allure.attachment_type
    allure.attach(attachment_json(record), "autodeploy.json", kinds.JSON)
    allure.attach(attachment_page(record), "autodeploy.html", kinds.HTML)
    if record.log:
        allure.attach(record.log, "Log of the board", kinds.TEXT)


def _set_properties(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """On this report and on those to come, of which JUnit takes the last; once after a rerun."""
    from pytest_autodeploy.report.junit import properties

    others = [pair for pair in item.user_properties if not pair[0].startswith("autodeploy.")]
    run_id = settings_of(item.config).run_id
    own = [("autodeploy.run_id", run_id)] if run_id else []
    item.user_properties[:] = [*others, *own, *properties(record)]
    report.user_properties[:] = item.user_properties
