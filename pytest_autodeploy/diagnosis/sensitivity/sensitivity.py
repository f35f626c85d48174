"""For each operator of a model, whether a set of inputs would notice if it were wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.limits.sensitivity import CHANGES


@dataclass(frozen=True)
class ChangeNoticed:
    """One change of an operator's outputs, in its ``variants``: of "channel", a channel each.

    ``by`` has the inferences that notice each variant; unless all were asked for, the first only.
    """

    by: tuple[tuple[int, ...], ...]

    @property
    def variants(self) -> int:
        """In how many ways the change was made."""
        return len(self.by)

    @property
    def seen(self) -> int:
        """How many of the variants an inference notices."""
        return sum(1 for inferences in self.by if inferences)

    @property
    def noticed(self) -> bool:
        """Whether all variants are noticed."""
        return self.seen == self.variants


@dataclass(frozen=True)
class OperatorSensitivity:
    """One operator of the main subgraph, and each change that its outputs can have.

    ``unknown``: why it could not be found out; then there are no ``changes``.
    """

    position: int
    operator: str
    changes: Mapping[str, ChangeNoticed]
    unknown: str = ""

    @property
    def label(self) -> str:
        """Such as ``7 CONV_2D``."""
        return f"{self.position} {self.operator}"


@dataclass(frozen=True)
class Count:
    """How many operators are ``noticed``, of how many ``known``, and how many are ``unknown``."""

    noticed: int
    known: int
    unknown: int

    @property
    def operators(self) -> int:
        """Those that can have the change, or may."""
        return self.known + self.unknown

    @property
    def least(self) -> float:
        """The share of operators that are noticed for certain; 0 where there are none at all."""
        return self.noticed / self.operators if self.operators else 0.0

    @property
    def most(self) -> float:
        """The share if all unknown ones were noticed."""
        return (self.noticed + self.unknown) / self.operators if self.operators else 0.0


@dataclass(frozen=True)
class Sensitivity:
    """What ``count`` inferences on ``inputs`` would notice, found out in ``seconds``.

    ``tolerance`` says in text what outputs may be off; ``engine`` ran the operators.
    ``doubtful``: inferences whose outputs are beyond the tolerance of the PC's even when every
    operator is right; they were held against themselves.
    """

    inputs: str
    count: int
    tolerance: str
    engine: str
    operators: tuple[OperatorSensitivity, ...]
    seconds: float
    doubtful: tuple[int, ...] = ()

    def counted(self, change: str) -> Count:
        """Over all operators whose outputs can have the change."""
        known = [each.changes[change] for each in self.operators if change in each.changes]
        noticed = sum(1 for each in known if each.noticed)
        return Count(noticed, len(known), len(self.unknown))

    def unnoticed(self, change: str) -> list[OperatorSensitivity]:
        """The operators that could be wrong like that and nobody would know."""
        of_change = (each for each in self.operators if change in each.changes)
        return [each for each in of_change if not each.changes[change].noticed]

    @property
    def unknown(self) -> list[OperatorSensitivity]:
        """The operators of which it could not be found out."""
        return [each for each in self.operators if each.unknown]

    @property
    def complete(self) -> bool:
        """Whether it is known of every operator."""
        return not self.unknown


SHOWN = 4
"""Operators that a line names."""


def describe(found: Sensitivity) -> str:
    """Such as ``11 of 13 operators would be noticed at 64 steps, 7 at 1 step; not noticed: ...``.

    Named are the operators that are not noticed at the largest change that leaves any out.
    """
    counts = {change: found.counted(change) for change in CHANGES}
    if not any(count.operators for count in counts.values()):
        return "no operator has outputs that could be wrong"
    first, *others = (change for change in CHANGES if counts[change].operators)
    of = f"{counts[first].noticed} of {counts[first].operators} operators would be noticed"
    parts = [f"{of} {_at(first)}", *(f"{_count(counts, each)} {_at(each)}" for each in others)]
    said = [", ".join(parts), *_unnoticed_text(found)]
    if found.unknown:
        said.append(f"not known of {_names(found.unknown)}: {found.unknown[0].unknown}")
    if found.doubtful:
        share = f"{len(found.doubtful)} of {found.count}"
        said.append(f"{share} inferences fail even when every operator is right")
    return "; ".join(said)


def _count(counts: Mapping[str, Count], change: str) -> str:
    count, usual = counts[change], counts[CHANGES[0]].operators
    return f"{count.noticed}" + ("" if count.operators == usual else f" of {count.operators}")


def _at(change: str) -> str:
    return "in one channel" if change == CHANGES[2] else f"at {change}"


def _unnoticed_text(found: Sensitivity) -> list[str]:
    for change in CHANGES:
        if left := found.unnoticed(change):
            at = "" if change == CHANGES[0] else f" {_at(change)}"
            return [f"not noticed{at}: {_names(left)}"]
    return []


def _names(operators: Sequence[OperatorSensitivity]) -> str:
    more = f" and {len(operators) - SHOWN} more" if len(operators) > SHOWN else ""
    return ", ".join(each.label for each in operators[:SHOWN]) + more
