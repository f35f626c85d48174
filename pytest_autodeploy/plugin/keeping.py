"""What is kept of a run: baselines, the history, and a Markdown summary of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.plugin.state import results_of, settings_of

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
COMPLETE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Keeping:
    """Writes in the process that reports: alone, or xdist's controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = settings_of(config)
        self._began = datetime.now(UTC)
        self._updates: list[str] = []
        self._problems: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files; one that was asked for and cannot be written fails the run."""
        records = results_of(self._config).records()
        if not records:
            return
        if self._settings.update_baseline:
            self._update(records, complete=session.exitstatus in COMPLETE)
        try:
            self._remember(records)
            self._summarize()
        except (HistoryError, ResultsError) as error:
            self._problems.append(str(error))
        if self._problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line per comparison, per change of a baseline and per problem."""
        lines = [*self._comparisons(), *self._updates]
        if not lines and not self._problems:
            return
        terminalreporter.write_sep("=", "autodeploy: baselines")
        for line in lines:
            terminalreporter.write_line(line)
        for problem in self._problems:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The trends of the history."""
        path = self._settings.history_path
        records = results_of(self._config).records()
        if path is None or not records:
            return
        from pytest_autodeploy.baseline.history import History
        from pytest_autodeploy.baseline.measured import measured_by
        from pytest_autodeploy.report.baseline_html import trends_html

        try:
            prefix.append(trends_html(History(path), measured_by(records)))
        except HistoryError as error:
            self._problems.append(str(error))

    def _update(self, records: Sequence[Any], *, complete: bool) -> None:
        from pytest_autodeploy.baseline.update import update_baselines

        if not complete:
            self._problems.append("baselines were not updated: the run was not completed")
            return
        settings = self._settings
        update = update_baselines(
            records,
            settings.baselines_path,
            settings.rootdir,
            mode=settings.update_baseline or "all",
            plugin_version=version("pytest-autodeploy"),
        )
        self._updates, self._problems = update.lines, update.problems

    def _remember(self, records: Sequence[Any]) -> None:
        path = self._settings.history_path
        if path is None:
            return
        from pytest_autodeploy.baseline.commit import current_commit
        from pytest_autodeploy.baseline.history import History, Run
        from pytest_autodeploy.baseline.measured import measured_by

        arguments = map(str, self._config.invocation_params.args)
        run = Run(
            self._began.isoformat(timespec="seconds"),
            current_commit(self._settings.rootdir),
            shlex.join(["pytest", *arguments]),
            version("pytest-autodeploy"),
        )
        History(path).add(run, measured_by(records))

    def _summarize(self) -> None:
        file, of_job = self._settings.summary, os.environ.get(STEP_SUMMARY)
        if not file and not of_job:
            return
        from pytest_autodeploy.base.files import write_bytes
        from pytest_autodeploy.report.markdown import summary_markdown

        text = summary_markdown(results_of(self._config).results(), self._updates)
        if file:
            write_bytes(self._settings.root / file, text.encode())
        if of_job:
            _append(Path(of_job), text)

    def _comparisons(self) -> list[str]:
        from pytest_autodeploy.baseline.words import headline
        from pytest_autodeploy.report.terminal import title

        return [
            f"{title(result)}: {headline(result['comparison'])}"
            for result in results_of(self._config).results()
            if result["comparison"]
        ]


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ResultsError(f"cannot write ${STEP_SUMMARY}, {path}: {error.strerror}") from error
