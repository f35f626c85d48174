"""The details of a record for HTML, whether it is of a board or an estimate."""

from __future__ import annotations

from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.npu.layer_csv import layer_csv
from pytest_autodeploy.report.html import extra_html
from pytest_autodeploy.report.npu_html import estimate_html
from pytest_autodeploy.report.results import csv_name


def record_html(record: TestRecord) -> str:
    """All that is known; parts that there are not are left out."""
    if record.npu:
        return estimate_html(record.npu, csv=layer_csv(record.npu), csv_name=csv_name(record.model))
    return extra_html(record)
