"""What could not be made of a test's report, or of a run: told at its end, and the run fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape

import pytest

from pytest_autodeploy.base.error_text import text_of


@contextmanager
def part_of(report: pytest.TestReport, what: str) -> Iterator[None]:
    """Make one part of a report: what breaks it is noted on the report and ends nothing else.

    The report carries the words to the process that ends the run, which may be another one.
    """
    try:
        yield
    except Exception as error:
        text = text_of(error, f"{what} of {report.nodeid}")
        report.sections.append(("autodeploy", text))
        report.autodeploy_problems = [*problems_of(report), text]  # type: ignore[attr-defined]


USAGE = "autodeploy_usage"
"""Under this name a worker of xdist tells its controller of a usage error."""


def refuse(config: pytest.Config, items: list[pytest.Item], problem: str) -> None:
    """End the run as a usage error, before any test.

    xdist (3.8) does not expect one of a worker and ends with an INTERNALERROR. A worker therefore
    has no tests, as all others, and what is wrong goes to the controller.
    """
    output: dict[str, object] | None = getattr(config, "workeroutput", None)
    if output is None:
        raise pytest.UsageError(problem)
    output[USAGE] = problem
    items[:] = []


def problems_of(report: pytest.TestReport) -> Sequence[str]:
    """What could not be made of a report, in words."""
    problems: Sequence[str] = getattr(report, "autodeploy_problems", ())
    return problems


class Problems:
    """What broke at the end of a run, each once; with one the run fails."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self.found: list[str] = []

    @contextmanager
    def part(self, what: str) -> Iterator[None]:
        """Run one part; what breaks it is told at the end, and the run fails."""
        try:
            yield
        except Exception as error:
            self.add(text_of(error, what))

    def html(self, what: str, make: Callable[[], str]) -> str:
        """A part of the HTML report, or the error in its place."""
        try:
            return make()
        except Exception as error:
            text = text_of(error, f"{what} in the HTML report")
            self.add(text)
            return f"<p><b>ERROR: {escape(text)}</b></p>"

    def add(self, problem: str) -> None:
        """Note what broke, in words."""
        if problem not in self.found:
            self.found.append(problem)
        self.end_red()

    def end_red(self) -> None:
        """A run that would pass fails; while tests run, pytest has not set its status yet."""
        if self._session.exitstatus == pytest.ExitCode.OK:
            self._session.exitstatus = pytest.ExitCode.TESTS_FAILED
