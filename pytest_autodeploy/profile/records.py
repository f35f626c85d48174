"""The per-layer profile of one inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.base.short_repr import short

Run = Literal["first", "warm"]


@dataclass(frozen=True)
class Layer:
    """One operator as the board ran it.

    ``index`` is its place in the order in which operators ran, ``tag`` its name by the board
    ("CONV_2D"), ``us`` its time in microseconds. ``counters`` are raw values, in the order of the
    profile's ``counter_names``. ``macs`` (estimated) and ``cycles`` are None when they are not
    known, which is not the same as 0. ``spread_us`` is the standard deviation of repeated profiles,
    None of a single one.
    """

    index: int
    tag: str
    us: float
    macs: int | None = None
    cycles: int | None = None
    counters: tuple[int, ...] = ()
    spread_us: float | None = None


@dataclass(frozen=True)
class LayerProfile:
    """All ``layers`` of one inference in the order they ran.

    ``run`` says which inference: the first, or a later one with warm caches. ``counter_names``
    names what each layer's ``counters`` hold. ``source`` is the source of times and cycles; MACs
    are always estimated. Times and cycles are medians of ``repeats`` inferences.
    """

    layers: tuple[Layer, ...]
    run: Run
    counter_names: tuple[str, ...]
    source: Source
    repeats: int = 1

    def __repr__(self) -> str:
        layers, run, source = len(self.layers), self.text, self.source
        return short(self, layers=layers, total_us=self.total_us, run=run, source=source)

    @property
    def text(self) -> str:
        """Which inference the figures are of: ``first``, or ``warm, median of 10``."""
        return f"{self.run}, median of {self.repeats}" if self.repeats > 1 else self.run

    @property
    def total_us(self) -> float:
        """Microseconds of all layers together."""
        return sum(layer.us for layer in self.layers)

    @property
    def total_macs(self) -> int | None:
        """MACs of all layers together, None when those of any layer are unknown."""
        return _total([layer.macs for layer in self.layers])

    @property
    def total_cycles(self) -> int | None:
        """Cycles of all layers together, None when those of any layer are unknown."""
        return _total([layer.cycles for layer in self.layers])


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(frozen=True)
class Histogram:
    """How many of the timed inferences lie in each of equal bins from ``low_us`` to ``high_us``.

    Where all took the same time, there is one bin, and both are that time.
    """

    low_us: float
    high_us: float
    counts: tuple[int, ...]
    source: Source
