"""Judging a test: what its limits ask for is measured, then each limit gets its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError, BoardError, BoardRefused
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.metrics.evidence import Evidence
from pytest_autodeploy.metrics.ledger import Row, red_rows
from pytest_autodeploy.metrics.metric import Metric, not_judged
from pytest_autodeploy.metrics.subject import Subject

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation

Owed = Callable[[Declared], bool]
"""Whether the test has to judge a limit; another one is judged when it was measured anyway."""


@dataclass(frozen=True)
class Judgement:
    """The rows of a test, and the comparisons that they rest on.

    ``broke`` is what the board did while the rest was to be measured.
    """

    rows: tuple[Row, ...]
    evidence: Evidence = field(default_factory=Evidence)
    explanation: Explanation | None = None
    broke: BoardError | None = None

    @property
    def red(self) -> tuple[Row, ...]:
        """The rows that fail the test, the gravest class first."""
        return red_rows(self.rows)

    def because(self, why: str) -> Judgement:
        """The same, with the cause told by the row about wrong outputs."""
        rows = (
            replace(row, why=why) if row.red and row.failure == "wrong output" else row
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))


def judge(
    subject: Subject,
    limits: Sequence[Declared],
    metrics: Mapping[str, Metric],
    owed: Owed,
) -> Judgement:
    """Measure what is owed and missing, then give each limit its rows.

    What cannot be judged is told in a row and is red; so is a limit that its metric gave no row.
    """
    run = _Judging(subject, metrics)
    due = [declared for declared in limits if run.measured(declared, owed)]
    for declared in due:
        run.add_rows(declared)
    for name, metric in metrics.items():
        if run.broke is None:
            judged = [declared for declared in due if declared.name == name]
            run.rows += metric.unlimited(subject, judged)
    return Judgement(tuple(run.rows), subject.evidence, broke=run.broke)


class _Judging:
    """The loop's state: the rows so far, why limits cannot be judged, and whether a board broke."""

    def __init__(self, subject: Subject, metrics: Mapping[str, Metric]) -> None:
        self._subject = subject
        self._metrics = metrics
        self._reasons: dict[int, str] = {}
        self.rows: list[Row] = []
        self.broke: BoardError | None = None

    def measured(self, declared: Declared, owed: Owed) -> bool:
        """Measure what is owed and missing; False for a limit that need not be judged here."""
        metric = self._metrics[declared.name]
        try:
            if self.broke is None and not metric.measured(self._subject, declared):
                if not owed(declared):
                    return False
                metric.measure(self._subject, declared)
        except AutodeployError as error:
            self._note(error, declared)
        return True

    def add_rows(self, declared: Declared) -> None:
        """How the limit ended."""
        rows: list[Row] = []
        if self.broke is None and id(declared) not in self._reasons:
            try:
                rows = list(self._metrics[declared.name].rows(self._subject, declared))
            except AutodeployError as error:
                self._note(error, declared)
        if not rows and declared.origin != "none":
            why = f"the board broke: {self.broke}" if self.broke else "nothing was held against it"
            reason = self._reasons.get(id(declared), why)
            rows = [not_judged(declared, self._subject.title, reason)]
        self.rows += rows

    def _note(self, error: AutodeployError, declared: Declared) -> None:
        self._reasons[id(declared)] = str(error)
        if isinstance(error, BoardError) and not isinstance(error, BoardRefused):
            self.broke = self.broke or error
