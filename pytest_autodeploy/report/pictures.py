"""What is drawn of a record: layers, the histogram of its latencies, waveforms of its power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_autodeploy.report.energy import waveforms
from pytest_autodeploy.report.histogram import histogram_parts
from pytest_autodeploy.report.html_layers import layer_parts

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord


def pictures(record: TestRecord) -> dict[str, Any]:
    """What the templates of the pictures need; empty parts for what was not measured."""
    return {
        "waveforms": waveforms(record),
        "histogram": histogram_parts(record.histogram),
        **layer_parts(record),
    }
