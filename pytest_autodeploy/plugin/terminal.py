"""What the terminal shows at the end of a run: its table, what failed, and baselines."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from datetime import datetime

    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.result import Result
    from pytest_autodeploy.plugin.problems import Problems


class Summary:
    """Writes the summary of a run; what breaks one part of it is a problem of the run."""

    def __init__(self, terminal: pytest.TerminalReporter, problems: Problems) -> None:
        self._terminal = terminal
        self._problems = problems
        self._settings = settings_of(terminal.config)

    def sections(self, results: list[Result]) -> None:
        """Show the table of all results, and what failed or with ``-v`` every result in detail."""
        from pytest_autodeploy.report.sections import sections

        width = shutil.get_terminal_size().columns
        output, verbosity = self._settings.output, self._terminal.config.get_verbosity()
        for make in sections(results, output=output, verbosity=verbosity, width=width):
            with self._problems.part("a section of the terminal's summary"):
                title, lines = make()
                self._terminal.write_sep("=", f"autodeploy: {title}")
                for line in lines:
                    self._write(line)

    def _write(self, line: str) -> None:
        """A line with its verdicts and sources in colour, where the terminal has colours."""
        from pytest_autodeploy.report.paint import paint

        self._terminal.ensure_newline()
        for text, look in paint(line):
            self._terminal.write(text, **look)
        self._terminal.write_line("")

    def recordings(self, began: datetime) -> None:
        """Show which recordings were written since the run began, and their sizes."""
        from pytest_autodeploy.run.recordings import recording_lines

        with self._problems.part("the recordings"):
            for line in recording_lines(self._settings, began.timestamp()):
                self._terminal.write_line(f"autodeploy: {line}")

    def allowed(self, count: int) -> None:
        """Show how many limits were not judged, where that is allowed."""
        if count:
            limits = "limit was" if count == 1 else "limits were"
            self._terminal.write_line(
                f"autodeploy: {count} {limits} not judged, as allowed", yellow=True
            )

    def drifts(self, records: Sequence[TestRecord]) -> None:
        """Show what has become worse over the runs of the history, though each may have passed."""
        path = self._settings.history_path
        if path is None or not path.exists() or not records:
            return
        from pytest_autodeploy.baseline.commit import pull_request
        from pytest_autodeploy.baseline.history import History
        from pytest_autodeploy.baseline.measured import measured_by
        from pytest_autodeploy.baseline.trend import drift_lines
        from pytest_autodeploy.limits.declarations import default_regression

        with self._problems.part("the drift over the runs of the history"):
            measured, limit = measured_by(records), default_regression()
            lines = list(drift_lines(History(path), measured, limit, pull_request()))
            if lines:
                self._terminal.write_sep("=", "autodeploy: drift")
            for line in lines:
                self._terminal.write_line(line, yellow=True)

    def baselines(self, results: list[Result], updates: Sequence[str]) -> None:
        """Show how results compare with their baselines, and which of these were updated."""
        from pytest_autodeploy.report.sections import comparison_lines

        lines: list[str] = []
        verbose = self._terminal.config.get_verbosity() > 0
        with self._problems.part("the comparison with a baseline"):
            lines += comparison_lines(results, verbose=verbose)
        lines += [line for line in updates if line]
        if not lines and results and self._settings.update_baseline:
            lines = ["no baseline was updated"]
        if lines:
            self._terminal.write_sep("=", "autodeploy: baselines")
        for line in lines:
            self._terminal.write_line(line)
