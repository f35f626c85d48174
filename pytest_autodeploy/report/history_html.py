"""What the HTML report shows of the runs of a history: trends, and the health of the boards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.baseline.commit import pull_request
from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.baseline.measured import measured_by
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.report.baseline_html import trends_html
from pytest_autodeploy.report.health import health_html

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord


def history_parts(
    path: Path | None, records: Sequence[TestRecord]
) -> Iterator[tuple[str, Callable[[], str]]]:
    """The parts by name, each as a maker that can fail alone; none without a history."""
    if path is None or not records:
        return
    yield "the trends", partial(_trends, path, records)
    if path.exists():
        yield "the health of the boards", partial(health_html, path)


def _trends(path: Path, records: Sequence[TestRecord]) -> str:
    limit = default_regression()
    return trends_html(History(path), measured_by(records), limit, pull_request())
