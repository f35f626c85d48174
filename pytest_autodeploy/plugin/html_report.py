"""What the report of pytest-html shows beside its tests: columns, the table of the run, trends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result
    from pytest_autodeploy.plugin.gathered import Gathered
    from pytest_autodeploy.plugin.problems import Problems

COLUMNS_AT = 2


class HtmlReport:
    """The hooks of pytest-html.

    They are optional ones: without pytest-html nobody declares them, and pytest would not start.
    """

    def __init__(self, config: pytest.Config, gathered: Gathered, problems: Problems) -> None:
        self._config = config
        self._gathered = gathered
        self._problems = problems

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Columns of pytest-html."""
        from pytest_autodeploy.report.html_cells import header_cells

        cells[COLUMNS_AT:COLUMNS_AT] = header_cells()

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """Cells of pytest-html; as many as the header has, also when they cannot be made."""
        from pytest_autodeploy.metrics.record import from_plain
        from pytest_autodeploy.report.html_cells import anchor, columns, header_cells, id_cell

        # Another plugin, or a conftest, has left the row out.
        if not cells:
            return
        own = ["<td></td>" for _ in header_cells()]
        with self._problems.part(f"the cells of {report.nodeid} in the HTML report"):
            # pytest-html 4.2 writes cells into the page as they are.
            cells[1] = id_cell(cells[1], report.nodeid)
            plain = getattr(report, "autodeploy", None)
            if plain:
                cells[1] = anchor(cells[1], report.nodeid)
            own = columns(from_plain(plain) if plain else None)
        cells[COLUMNS_AT:COLUMNS_AT] = own

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """The table of the run, estimates and trends; without results our columns are hidden."""
        from pytest_autodeploy.report.html_cells import HIDE_COLUMNS
        from pytest_autodeploy.report.html_table import summary_html
        from pytest_autodeploy.report.npu_html import estimates_html

        results = self._gathered.results()
        if not results:
            prefix.append(HIDE_COLUMNS)
            return
        with self._problems.part("the environment in the HTML report"):
            self._tell_environment(results)
        prefix += [
            self._problems.html("the table of the run", lambda: summary_html(_of_boards(results))),
            self._problems.html("the cards of the run", lambda: self._cards(results)),
            self._problems.html("the estimates", lambda: estimates_html(results)),
            *(self._problems.html(what, make) for what, make in self._history()),
        ]

    def _cards(self, results: list[Result]) -> str:
        from pytest_autodeploy.report.cards import cards_html

        page = Path(self._config.getoption("htmlpath")).absolute().parent
        output = settings_of(self._config).output_path
        try:
            folder = quote(Path(os.path.relpath(output, page)).as_posix())
        except ValueError:  # another drive of Windows
            folder = output.as_uri()
        return cards_html(results, self._gathered.records(), folder)

    def _tell_environment(self, results: list[Result]) -> None:
        """Models, boards and tools, for the table of the environment, which pytest-html keeps."""
        from pytest_metadata.plugin import metadata_key  # type: ignore[import-untyped]

        from pytest_autodeploy.report.environment import environment

        self._config.stash[metadata_key] |= environment(results)

    def _history(self) -> Iterable[tuple[str, Callable[[], str]]]:
        from pytest_autodeploy.report.history_html import history_parts

        return history_parts(settings_of(self._config).history_path, self._gathered.records())


def _of_boards(results: list[Result]) -> list[Result]:
    return [result for result in results if not result.npu]
