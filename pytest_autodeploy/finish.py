"""The end of a run: result files, and the summary on the terminal and in the HTML report."""

from __future__ import annotations

import platform
import shlex
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from pytest_autodeploy.errors import ResultsError
from pytest_autodeploy.state import results_of, settings_of

PACKAGES = ("pytest-autodeploy", "pytest", "numpy", "ai-edge-litert", "tflite-micro", "erpc")
COLUMNS_AT = 2


class Results:
    """Collects the tests' records in the process that reports: alone, or xdist's controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = datetime.now(UTC)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the record that the test's report carries."""
        record = getattr(report, "autodeploy", None)
        if record is not None:
            results_of(self._config).add(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Write the result files."""
        store = results_of(self._config)
        settings = settings_of(self._config)
        if not store.results():
            return
        try:
            store.write(settings.output_path, self._provenance())
        except ResultsError as error:
            self._config.issue_config_time_warning(pytest.PytestWarning(str(error)), stacklevel=2)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one section per model and board."""
        results = results_of(self._config).results()
        if not results:
            return
        from pytest_autodeploy.report.terminal import summary_lines

        writer = terminalreporter
        for result in results:
            title, lines = summary_lines(
                result,
                output=settings_of(self._config).output,
                verbose=self._config.get_verbosity() > 0,
                width=writer._tw.fullwidth,
            )
            writer.section(f"autodeploy: {title}")
            for line in lines:
                writer.write_line(line)

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

        prefix.append(summary_html(results_of(self._config).results()) or HIDE_COLUMNS)

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


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
