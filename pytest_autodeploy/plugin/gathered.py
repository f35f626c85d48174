"""The tests' records in the process that reports: alone, or xdist's controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.result import Provenance, Result
    from pytest_autodeploy.plugin.problems import Problems
    from pytest_autodeploy.report.results import ResultStore


class Gathered:
    """Records, and the results that they make."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._store: ResultStore | None = None

    def add(self, plain: dict[str, Any]) -> None:
        """Add the record of a test, as its report carries it."""
        from pytest_autodeploy.metrics.record import from_plain
        from pytest_autodeploy.report.results import ResultStore

        self._store = self._store or ResultStore()
        self._store.add(from_plain(plain))

    @property
    def empty(self) -> bool:
        """Whether no test had a record."""
        return self._store is None

    def records(self) -> Sequence[TestRecord]:
        """All records, none before the first one."""
        return self._store.records() if self._store else ()

    def results(self) -> list[Result]:
        """One result for each model and board; none when they cannot be made."""
        with self._problems.part("the results"):
            return self._store.results() if self._store else []
        return []

    def attach(self, tests: Sequence[dict[str, Any]]) -> None:
        """Put the record of each test, by its ``nodeid``, into its ``metadata``."""
        from pytest_autodeploy.report.attachment import attachment

        by_test = {record.nodeid: record for record in self.records()}
        for test in tests:
            if record := by_test.get(test["nodeid"]):
                with self._problems.part(f"the record of {record.nodeid} for pytest-json-report"):
                    test.setdefault("metadata", {})["autodeploy"] = attachment(record)

    def write(
        self,
        results: list[Result],
        folder: Path,
        command: str,
        began: datetime,
        run_id: str | None = None,
    ) -> None:
        """Write the file of each result, with what it was made with and when."""
        from pytest_autodeploy.report.provenance import provenance, run_facts
        from pytest_autodeploy.report.results import write_result

        made_with: Provenance | None = None
        with self._problems.part("the provenance of the results"):
            made_with = provenance()
        run = run_facts(command, began, run_id)
        for result in results:
            with self._problems.part(f"the result file {result.files.json}"):
                write_result(result, folder, made_with, run)
