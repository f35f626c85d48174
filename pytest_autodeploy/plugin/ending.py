"""The end of a run: what is written and shown of it, each part on its own.

Whatever breaks one part becomes one error and exit code 1; all other parts are still made.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.base.errors import words_of
from pytest_autodeploy.base.text import writable
from pytest_autodeploy.plugin.problems import USAGE, problems_of
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.run.metrics import default_regression

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Provenance, Result
    from pytest_autodeploy.report.results import ResultStore

COMPLETE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
COLUMNS_AT = 2
PHASES = ("setup", "call", "teardown")


class Ending:
    """Collects the tests' records in the process that reports: alone, or xdist's controller."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        self._settings = settings_of(session.config)
        self._began = datetime.now(UTC)
        self._store: ResultStore | None = None
        self._lost = False
        self._usage = ""
        self._updates: list[str] = []
        self._problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the record that the test's report carries, and what could not be made of it."""
        problems = problems_of(report)
        for problem in problems:
            self._fail(problem)
        # xdist sends a report's attributes to the controller. They have to be plain Python values:
        # a NumPy scalar among them ends the run with an INTERNALERROR of execnet (xdist 3.8).
        plain = getattr(report, "autodeploy", None)
        if plain is not None:
            self._add(plain)
        elif problems or (report.failed and report.when not in PHASES):
            self._lost = True  # xdist reports a worker that crashed in a phase of its own

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over a usage error that a worker of xdist has found."""
        problem = getattr(node, "workeroutput", {}).get(USAGE)
        if problem:
            self._usage = str(problem)

    def _add(self, plain: dict[str, Any]) -> None:
        from pytest_autodeploy.metrics.record import from_plain
        from pytest_autodeploy.report.results import ResultStore

        self._store = self._store or ResultStore()
        self._store.add(from_plain(plain))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files: results, and the baselines, history and summaries asked for."""
        if self._usage:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        complete = session.exitstatus in COMPLETE
        if self._problems:
            self._end_red()
        results = self._results()
        if self._store:
            self._judge(self._store)
        self._write_results(results)
        if self._store:
            self._keep(self._store, complete=complete)
        if results:
            self._summarize(results)

    def _results(self) -> list[Result]:
        with self._part("the results"):
            return self._store.results() if self._store else []
        return []

    def _write_results(self, results: list[Result]) -> None:
        if not results:
            return
        from pytest_autodeploy.report.provenance import provenance, run_facts
        from pytest_autodeploy.report.results import write_result

        made_with: Provenance | None = None
        with self._part("the provenance of the results"):
            made_with = provenance()
        run = run_facts(self._command(), self._began)
        for result in results:
            with self._part(f"the result file {result.files.json}"):
                write_result(result, self._settings.output_path, made_with, run)

    def _judge(self, store: ResultStore) -> None:
        """A limit that tests owed and skipped over is red, though each test ended well."""
        from pytest_autodeploy.metrics.run_ledger import unjudged

        with self._part("the limits that were owed"):
            for record, row in unjudged(store.records()):
                self._fail(f"{record.nodeid}: {row.limit} by {row.origin} was not judged")

    def _keep(self, store: ResultStore, *, complete: bool) -> None:
        from pytest_autodeploy.baseline.kept import keep_baselines, keep_in_history

        settings, records = self._settings, store.records()
        if settings.update_baseline and not complete:
            self._fail("baselines were not updated: the run was not completed")
        elif settings.update_baseline and self._lost:
            self._fail("baselines were not updated: a test has no record")
        elif settings.update_baseline:
            with self._part("the update of the baselines"):
                update = keep_baselines(records, settings, default_regression())
                self._updates = update.lines
                for problem in update.problems:
                    self._fail(problem)
        with self._part("the history"):
            keep_in_history(records, settings, self._command(), self._began)

    def _command(self) -> str:
        arguments = map(str, self._config.invocation_params.args)
        return writable(shlex.join(["pytest", *arguments]))

    def _summarize(self, results: list[Result]) -> None:
        from pytest_autodeploy.report.summary_file import write_job_summary, write_summary

        with self._part("the summary"):
            write_summary(results, self._updates, self._settings)
        with self._part("the summary of the job"):
            write_job_summary(results, self._updates)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A section per model and board, one on baselines, and every error of the end."""
        for line in self._usage.splitlines():
            terminalreporter.write_line(f"ERROR: {line}", red=True)
        results = self._results()
        self._show_sections(terminalreporter, results)
        self._show_baselines(terminalreporter, results)
        self._show_allowed(terminalreporter)
        if self._problems:
            terminalreporter.write_sep("=", "autodeploy: not all was written", red=True)
        for problem in self._problems:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)

    def _show_sections(self, terminal: pytest.TerminalReporter, results: list[Result]) -> None:
        from pytest_autodeploy.report.sections import sections

        verbose = self._config.get_verbosity() > 0
        width = shutil.get_terminal_size().columns
        output = self._settings.output
        for make in sections(results, output=output, verbose=verbose, width=width):
            with self._part("a section of the terminal's summary"):
                title, lines = make()
                terminal.write_sep("=", f"autodeploy: {title}")
                for line in lines:
                    terminal.write_line(line)

    def _show_allowed(self, terminal: pytest.TerminalReporter) -> None:
        from pytest_autodeploy.metrics.run_ledger import allowed

        count = allowed(self._store.records()) if self._store else 0
        if count:
            limits = "limit was" if count == 1 else "limits were"
            terminal.write_line(f"autodeploy: {count} {limits} not judged, as allowed", yellow=True)

    def _show_baselines(self, terminal: pytest.TerminalReporter, results: list[Result]) -> None:
        from pytest_autodeploy.report.sections import comparison_line

        lines: list[str] = []
        for result in results:
            with self._part("the comparison with a baseline"):
                lines.append(comparison_line(result))
        lines = [line for line in [*lines, *self._updates] if line]
        if not lines and results and self._settings.update_baseline:
            lines = ["no baseline was updated"]
        if lines:
            terminal.write_sep("=", "autodeploy: baselines")
        for line in lines:
            terminal.write_line(line)

    # optionalhook: without pytest-html nobody declares these hooks, and pytest would not start.

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Columns of pytest-html."""
        from pytest_autodeploy.report.html_table import header_cells

        cells[COLUMNS_AT:COLUMNS_AT] = header_cells()

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """Cells of pytest-html; as many as the header has, also when they cannot be made."""
        from pytest_autodeploy.metrics.record import from_plain
        from pytest_autodeploy.report.html_table import columns, header_cells, id_cell

        # Another plugin, or a conftest, has left the row out.
        if not cells:
            return
        own = ["<td></td>" for _ in header_cells()]
        with self._part(f"the cells of {report.nodeid} in the HTML report"):
            # pytest-html 4.2 writes cells into the page as they are.
            cells[1] = id_cell(cells[1], report.nodeid)
            plain = getattr(report, "autodeploy", None)
            own = columns(from_plain(plain) if plain else None)
        cells[COLUMNS_AT:COLUMNS_AT] = own

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The table of the run, estimates and trends; without results our columns are hidden."""
        from pytest_autodeploy.report.html_table import HIDE_COLUMNS, summary_html
        from pytest_autodeploy.report.npu_html import sweep_html
        from pytest_autodeploy.report.sections import estimates

        results = self._results()
        if not results:
            prefix.append(HIDE_COLUMNS)
            return
        prefix += [
            self._html("the table of the run", lambda: summary_html(_of_boards(results))),
            self._html("the estimates", lambda: sweep_html(estimates(results))),
            self._html("the trends", self._trends),
        ]

    def _trends(self) -> str:
        path = self._settings.history_path
        if path is None or self._store is None:
            return ""
        from pytest_autodeploy.report.baseline_html import history_html

        return history_html(path, self._store.records(), default_regression())

    @contextmanager
    def _part(self, what: str) -> Iterator[None]:
        """Run one part; what breaks it is told at the end, and the run fails."""
        try:
            yield
        except Exception as error:
            self._fail(words_of(error, what))

    def _html(self, what: str, make: Callable[[], str]) -> str:
        """A part of the HTML report, or the error in its place."""
        try:
            return make()
        except Exception as error:
            words = words_of(error, f"{what} in the HTML report")
            self._fail(words)
            return f"<p><b>ERROR: {escape(words)}</b></p>"

    def _fail(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
        self._end_red()

    def _end_red(self) -> None:
        """A run that would pass fails; while tests run, pytest has not set its status yet."""
        if self._session.exitstatus == pytest.ExitCode.OK:
            self._session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _of_boards(results: list[Result]) -> list[Result]:
    return [result for result in results if not result.npu]
