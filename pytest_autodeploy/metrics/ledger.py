"""The ledger: one row for each limit that a test declares, which says how it ended.

It is the only thing that decides a verdict, and what every report shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.failures import CLASSES, FailureClass

Status = Literal["pass", "FAIL", "NOT JUDGED", "no limit"]
"""How a limit ended; ``no limit`` is for what was only measured. ``NOT JUDGED`` is red."""

RED: tuple[Status, ...] = ("FAIL", "NOT JUDGED")


@dataclass(frozen=True)
class Row:
    """One limit, and the measurement that it was held against, if there is one.

    ``limit`` is the declaration as text, such as ``latency_budget(ms=25)``, ``origin`` says
    where it was declared, ``text`` how it ended. ``failure`` is the class of a red row, see
    ``failures.CLASSES``, else None. ``why`` are more lines that a failing test prints, about the
    cause; reports show them in a place of their own. ``allowed``: it is not red that nothing judged
    it, as ``--autodeploy-unjudged`` said so. ``bound`` is what the value may not exceed, in its
    unit; None of limits of another form.
    """

    metric: str
    limit: str
    origin: str
    status: Status
    text: str
    measurement: Measurement | None = None
    failure: FailureClass | None = None
    why: str = ""
    allowed: bool = False
    bound: float | None = None

    @property
    def red(self) -> bool:
        """Whether it fails the test, and the run."""
        return self.status in RED and not self.allowed

    @property
    def message(self) -> str:
        """All that a failing test prints."""
        return f"{self.text}\n{self.why}" if self.why else self.text


def red_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that fail a test, the gravest class first."""
    return tuple(
        sorted((r for r in rows if r.red), key=lambda row: CLASSES.index(row.failure or "other"))
    )
