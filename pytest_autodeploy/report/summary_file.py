"""The Markdown summary of a run, into the file that was asked for and into that of a CI job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_autodeploy.base.files import append_text, write_bytes
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.report.markdown import summary_markdown
from pytest_autodeploy.settings.settings import Settings

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub says where a job's summary is, to which steps add."""


def write_summary(results: Sequence[Result], updates: Sequence[str], settings: Settings) -> None:
    """Write the file of the settings, if one is asked for. Raises ResultsError."""
    if settings.summary:
        text = summary_markdown(results, updates)
        write_bytes(settings.root / settings.summary, text.encode())


def write_job_summary(results: Sequence[Result], updates: Sequence[str]) -> None:
    """Add to the summary of the CI job that runs the tests, if one does. Raises ResultsError."""
    if path := os.environ.get(STEP_SUMMARY):
        append_text(Path(path), summary_markdown(results, updates), f"${STEP_SUMMARY}")
