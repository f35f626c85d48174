"""The end of a run: result files, and the summary on the terminal and in the HTML report."""

from __future__ import annotations

import platform
import shlex
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.plugin.state import results_of, settings_of

PACKAGES = (
    "pytest-autodeploy",
    "pytest",
    "numpy",
    "ai-edge-litert",
    "tflite-micro",
    "ethos-u-vela",
    "erpc",
)
COLUMNS_AT = 2

Result = dict[str, Any]


class Results:
    """Collects the tests' records in the process that reports: alone, or xdist's controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = datetime.now(UTC)
        self._unwritten = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the record that the test's report carries."""
        record = getattr(report, "autodeploy", None)
        if record is not None:
            results_of(self._config).add(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the result files; a run that cannot is not a good one."""
        store = results_of(self._config)
        settings = settings_of(self._config)
        if not store.results():
            return
        try:
            store.write(settings.output_path, self._provenance())
        except ResultsError as error:
            self._unwritten = str(error)
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one section per model and board, and one per model with NPU estimates."""
        results = results_of(self._config).results()
        for title, lines in [*self._board_sections(results), *_estimate_sections(results)]:
            terminalreporter.write_sep("=", f"autodeploy: {title}")
            for line in lines:
                terminalreporter.write_line(line)
        if self._unwritten:
            terminalreporter.write_sep("=", "autodeploy: the results were not written", red=True)
            terminalreporter.write_line(self._unwritten)

    def _board_sections(self, results: list[Result]) -> Iterator[tuple[str, list[str]]]:
        from pytest_autodeploy.report.terminal import summary_lines

        for result in results:
            if not result["npu"]:
                yield summary_lines(
                    result,
                    output=settings_of(self._config).output,
                    verbose=self._config.get_verbosity() > 0,
                    width=shutil.get_terminal_size().columns,
                )

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Columns of pytest-html."""
        from pytest_autodeploy.report.html import header_cells

        cells[COLUMNS_AT:COLUMNS_AT] = header_cells()

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """Cells of pytest-html."""
        from pytest_autodeploy.report.html import columns, id_cell

        if cells:
            cells[1] = id_cell(cells[1], report.nodeid)
            cells[COLUMNS_AT:COLUMNS_AT] = columns(getattr(report, "autodeploy", None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The table of the run, above the tests; without results our columns are hidden."""
        from pytest_autodeploy.report.html import HIDE_COLUMNS, summary_html
        from pytest_autodeploy.report.npu_html import sweep_html

        results = results_of(self._config).results()
        if not results:
            prefix.append(HIDE_COLUMNS)
            return
        prefix.append(summary_html([result for result in results if not result["npu"]]))
        prefix.append(sweep_html(_estimates(results)))

    def _provenance(self) -> dict[str, Any]:
        arguments = [str(argument) for argument in self._config.invocation_params.args]
        return {
            "versions": {name: _version(name) for name in PACKAGES},
            "python": platform.python_version(),
            "platform": platform.platform(),
            "run": {
                "command": shlex.join(["pytest", *arguments]),
                "started": self._began.isoformat(timespec="seconds"),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        }


def _estimates(results: list[Result]) -> list[Result]:
    """The NPU estimates, each under the unique id of its model."""
    return [r["npu"] | {"model": r["model"]["id"]} for r in results if r["npu"]]


def _estimate_sections(results: list[Result]) -> Iterator[tuple[str, list[str]]]:
    estimates = _estimates(results)
    if estimates:
        from pytest_autodeploy.report.npu_sweep import sweep_lines, sweep_tables

        for model, rows in sweep_tables(estimates).items():
            yield f"Ethos-U estimates of {model}", sweep_lines(rows)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
