"""A row of a commissioning: what was expected, what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.errors import AutodeployError, BrokenPackage, MissingExtra
from pytest_autodeploy.base.text import one_line

if TYPE_CHECKING:
    from pytest_autodeploy.run.commission.rig import Rig

Verdict = Literal["pass", "FAIL", "not applicable", "NOT JUDGED"]
RED: tuple[Verdict, ...] = ("FAIL", "NOT JUDGED")

_NOT_INSTALLED = (MissingExtra, BrokenPackage)


@dataclass(frozen=True)
class Row:
    """``advice`` is what to do; empty where nothing is wrong."""

    name: str
    expected: str
    actual: str
    verdict: Verdict
    advice: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found: ``good`` is whether it is as expected."""

    actual: str
    good: bool


class NotApplicable(AutodeployError):
    """A check has no sense on this board; the text says why."""


class NotJudged(AutodeployError):
    """A check has sense on this board and could not be made; the text says why."""


@dataclass(frozen=True)
class Check:
    """One row: ``measure`` gives what is found. Its errors are the row's."""

    name: str
    expected: str
    advice: str
    measure: Callable[[Rig], Finding]

    def row(self, rig: Rig) -> Row:
        """The row of a board."""
        try:
            found = self.measure(rig)
        except NotApplicable as why:
            return Row(self.name, self.expected, why.what, "not applicable")
        except (NotJudged, *_NOT_INSTALLED) as why:
            return Row(self.name, self.expected, why.what, "NOT JUDGED", why.hint or self.advice)
        except AutodeployError as error:
            rig.give_up()
            hint = "; ".join(part for part in (self.advice, _first_line(error.hint)) if part)
            return Row(self.name, self.expected, one_line(error.what), "FAIL", hint)
        advice = "" if found.good else self.advice
        return Row(self.name, self.expected, found.actual, _verdict(found), advice)


def _verdict(found: Finding) -> Verdict:
    return "pass" if found.good else "FAIL"


def _first_line(hint: str | None) -> str:
    return one_line((hint or "").strip().partition("\n")[0])
