"""Verdicts: one limit held against one measurement."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.failures import FailureClass


@dataclass(frozen=True)
class Verdict:
    """One limit against one measurement, with the words that a failing test prints.

    ``passed`` is None when there was nothing to judge: no limit, or no way to measure. ``failure``
    is the class of a failure, see ``failures.CLASSES``. ``why`` are more lines that a failing test
    prints, about its cause; reports show them in a place of their own.
    """

    limit: str
    origin: str
    passed: bool | None
    words: str
    measurement: Measurement | None = None
    failure: FailureClass = "over a limit"
    why: str = ""

    @property
    def text(self) -> str:
        """All that a failing test prints."""
        return f"{self.words}\n{self.why}" if self.why else self.words
