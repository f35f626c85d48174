"""What a report carries of a test's record for others: a section, JUnit properties, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.problems import part_of
from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord


def attach(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """Put on the report what others than this plugin show of the record."""
    if record.log:
        report.sections.append(("Log of the board", record.log))
    with part_of(report, "the JUnit properties"):
        _set_properties(item, report, record)
    if not item.config.getoption("htmlpath", None):
        return
    with part_of(report, "the details in the HTML report"):
        extra = {
            "name": "model",
            "format_type": "html",
            "content": _html(record),
            "mime_type": None,
            "extension": None,
        }
        report.extras = [*getattr(report, "extras", []), extra]  # type: ignore[attr-defined]


def _html(record: TestRecord) -> str:
    if record.npu:
        from pytest_autodeploy.npu.layer_csv import layer_csv
        from pytest_autodeploy.report.npu_html import estimate_html
        from pytest_autodeploy.report.results import csv_name

        csv = layer_csv(record.npu)
        return estimate_html(record.npu, csv=csv, csv_name=csv_name(record.model))
    from pytest_autodeploy.report.html import extra_html

    return extra_html(record)


def _set_properties(item: pytest.Item, report: pytest.TestReport, record: TestRecord) -> None:
    """On this report and on those to come, of which JUnit takes the last; once after a rerun."""
    from pytest_autodeploy.report.junit import properties

    others = [pair for pair in item.user_properties if not pair[0].startswith("autodeploy.")]
    run_id = settings_of(item.config).run_id
    own = [("autodeploy.run_id", run_id)] if run_id else []
    item.user_properties[:] = [*others, *own, *properties(record)]
    report.user_properties[:] = item.user_properties
