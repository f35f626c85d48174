"""The end of a run: what is written and shown of it, each part on its own.

Whatever breaks one part becomes one error and exit code 1; all other parts are still made.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.base.text import writable
from pytest_autodeploy.plugin.gathered import Gathered
from pytest_autodeploy.plugin.html_report import HtmlReport
from pytest_autodeploy.plugin.problems import USAGE, Problems, problems_of
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.plugin.terminal import Summary

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.result import Result

COMPLETE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
PHASES = ("setup", "call", "teardown")


class Ending:
    """Runs in the process that reports: alone, or xdist's controller."""

    def __init__(self, session: pytest.Session) -> None:
        self._config = session.config
        self._began = datetime.now(UTC)
        self._problems = Problems(session)
        self._gathered = Gathered(self._problems)
        self._lost = False
        self._told = 0
        self._usage = ""
        self._updates: list[str] = []
        page = HtmlReport(session.config, self._gathered, self._problems)
        session.config.pluginmanager.register(page, "autodeploy_html_report")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the record that the test's report carries, and what could not be made of it."""
        problems = problems_of(report)
        for problem in problems:
            self._problems.add(problem)
        # xdist sends a report's attributes to the controller. They have to be plain Python values:
        # a NumPy scalar among them ends the run with an INTERNALERROR of execnet (xdist 3.8).
        plain = getattr(report, "autodeploy", None)
        if plain is not None:
            self._gathered.add(plain)
        elif problems or (report.failed and report.when not in PHASES):
            self._lost = True  # xdist reports a worker that crashed in a phase of its own

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over a usage error that a worker of xdist has found."""
        problem = getattr(node, "workeroutput", {}).get(USAGE)
        if problem:
            self._usage = str(problem)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files: results, and the baselines, history and summaries asked for."""
        if self._usage:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        complete = session.exitstatus in COMPLETE
        if self._problems.found:
            self._problems.end_red()
        results, records = self._gathered.results(), self._gathered.records()
        if records:
            self._judge(records)
        if results:
            settings = settings_of(self._config)
            self._gathered.write(
                results, settings.output_path, self._command(), self._began, settings.run_id
            )
            self._export(results)
        if records:
            self._keep(records, complete=complete)
        if results:
            self._summarize(results)
        if self._config.getoption("no_summary", False):
            # pytest before 9.2 asks for no summary then, and the run may be red of these alone.
            self._tell_problems()

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Give each test in the report of pytest-json-report its record, under ``metadata``."""
        self._gathered.attach(json_report.get("tests", ()))

    def _export(self, results: Sequence[Result]) -> None:
        """What is asked for beside the results: the log of results, metrics, dated CSVs, .xlsx."""
        settings = settings_of(self._config)
        wanted = (
            settings.result_log or settings.openmetrics or settings.keep_profiles or settings.xlsx
        )
        if not wanted:
            return
        from pytest_autodeploy.report.exports import exports

        for what, write in exports(results, settings, self._began):
            with self._problems.part(what):
                write()

    def _judge(self, records: Sequence[TestRecord]) -> None:
        """A limit that tests owed and skipped over is red, though each test ended well."""
        from pytest_autodeploy.metrics.run_ledger import unjudged

        with self._problems.part("the limits that were owed"):
            for record, row in unjudged(records):
                self._problems.add(f"{record.nodeid}: {row.limit} by {row.origin} was not judged")

    def _keep(self, records: Sequence[TestRecord], *, complete: bool) -> None:
        from pytest_autodeploy.baseline.kept import keep_baselines, keep_in_history

        settings = settings_of(self._config)
        if settings.update_baseline and not complete:
            self._problems.add("baselines were not updated: the run was not completed")
        elif settings.update_baseline and self._lost:
            self._problems.add("baselines were not updated: a test has no record")
        elif settings.update_baseline:
            with self._problems.part("the update of the baselines"):
                update = keep_baselines(records, settings)
                self._updates = update.lines
                for problem in update.problems:
                    self._problems.add(problem)
        with self._problems.part("the history"):
            keep_in_history(records, settings, self._command(), self._began)

    def _command(self) -> str:
        arguments = map(str, self._config.invocation_params.args)
        return writable(shlex.join(["pytest", *arguments]))

    def _summarize(self, results: list[Result]) -> None:
        from pytest_autodeploy.report.summary_file import write_job_summary, write_summary

        with self._problems.part("the summary"):
            write_summary(results, self._updates, settings_of(self._config))
        with self._problems.part("the summary of the job"):
            write_job_summary(results, self._updates)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table of all results, what failed, baselines, and every error of the end."""
        for line in self._usage.splitlines():
            terminalreporter.write_line(f"ERROR: {line}", red=True)
        if not terminalreporter.no_summary and not self._gathered.empty:
            self._summary(terminalreporter)
        self._tell_problems()

    def _summary(self, terminal: pytest.TerminalReporter) -> None:
        from pytest_autodeploy.metrics.run_ledger import allowed

        results, summary = self._gathered.results(), Summary(terminal, self._problems)
        summary.sections(results)
        summary.baselines(results, self._updates)
        summary.drifts(self._gathered.records())
        summary.allowed(allowed(self._gathered.records()))
        summary.recordings(self._began)

    def _tell_problems(self) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        found = self._problems.found[self._told :]
        if terminal is None or not found:
            return
        self._told += len(found)
        terminal.write_sep("=", "autodeploy: not all was written", red=True)
        for problem in found:
            terminal.write_line(f"ERROR: {problem}", red=True)
