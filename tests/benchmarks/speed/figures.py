"""A figure of the bench, what is demanded of it, and whether its noise allows a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_autodeploy.base.repeats import Repeats, summarize
from pytest_autodeploy.baseline.precision import by_repeats

ALPHA = 0.01
"""Chance of a wrong verdict about one bound."""

BUSY = 0.10
"""Where others take more of the machine than this share, wall times tell of them, too."""

Verdict = Literal["pass", "FAIL", "undecided", "no bound", "left out"]


@dataclass(frozen=True)
class Figure:
    """One row: repeats of one figure, and its bound.

    ``kind``: ``ratio`` (of a pair that took turns, so that others slow both), ``cpu`` or ``wall``
    (in ``unit``), ``size``. ``others`` is the share of the machine that other processes had
    meanwhile, ``detail`` what else is worth a look, ``absent`` why there are no values.
    """

    name: str
    unit: str
    kind: Literal["ratio", "cpu", "wall", "size"]
    values: tuple[float, ...] = ()
    bound: float | None = None
    better: Literal["lower", "higher"] = "lower"
    others: float = 0.0
    load: float = 0.0
    detail: str = ""
    absent: str = ""
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def repeats(self) -> Repeats:
        """What the values say together, without outliers."""
        return summarize(self.values)

    @property
    def noise(self) -> float | None:
        """How far the centre may be off, in the unit; None of a single value."""
        repeats = self.repeats
        if repeats.kept < 2:
            return None
        # Against something exact: a side of many repeats without spread.
        return by_repeats(repeats, Repeats(self.bound or 0.0, 0.0, 1_000_000), ALPHA)

    @property
    def verdict(self) -> Verdict:
        """Whether the bound holds; ``undecided`` when noise or other work hides that."""
        if self.absent:
            return "left out"
        if self.bound is None:
            return "no bound"
        beyond = self.repeats.centre - self.bound
        if self.better == "higher":
            beyond = -beyond
        noise = self.noise
        if noise is None or abs(beyond) <= noise or (beyond > 0 and self.disturbed):
            return "undecided"
        return "FAIL" if beyond > 0 else "pass"

    @property
    def disturbed(self) -> bool:
        """Whether others had so much of the machine that a slow figure may be theirs."""
        return self.kind == "wall" and self.others > BUSY

    @property
    def why(self) -> str:
        """Why there is no verdict, and the detail."""
        if self.absent:
            return self.absent
        words = [self.detail] if self.detail else []
        if self.verdict == "undecided":
            busy = f"others had {100 * self.others:.0f} % of the machine"
            words.append(busy if self.disturbed else "the bound is within the noise")
        return "; ".join(words)


def of_values(figures: Sequence[Figure]) -> list[Figure]:
    """Those that were measured."""
    return [figure for figure in figures if figure.values]
