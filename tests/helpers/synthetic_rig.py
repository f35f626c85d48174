"""A rig of numbers alone: a board whose figure is drawn from a shape of noise, by its own clock.

What measures enough, summarizes, compares and confirms are the real parts of the gate.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.repeats import more_repeats, summarize
from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.confirmation import confirm
from pytest_autodeploy.baseline.enough import Enough
from pytest_autodeploy.baseline.format import Entry, entry_of
from pytest_autodeploy.limits import latency
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.metric import Metric
from pytest_autodeploy.metrics.records.facts import BoardFacts
from pytest_autodeploy.metrics.subject import Subject

LIMIT = default_regression()
BOARD = BoardFacts(
    name="rig",
    kind="hardware",
    core="cortex-m4f",
    source="measured",
    engine="tflm",
    clock="HP",
    clock_hz=192_000_000,
)
NOMINAL = 10_000.0

Shape = Callable[[random.Random, int], float]
"""Draws the factor of a repeat, whose number within its start is given."""


@dataclass(frozen=True)
class Kind:
    """A kind of figure: what a repeat and a start take in seconds, how many are measured first."""

    name: str
    repeat_s: float
    first: int
    restart_s: float = 2.0


LATENCY = Kind("latency_median", 0.025, 10)
ENERGY = Kind("energy_hp", 1.3, 3)


@dataclass
class Rig:
    """A figure with noise; ``start`` draws the factor of each start of the board."""

    kind: Kind
    shape: Shape
    source: random.Random
    slowdown: float = 0.0
    start: Callable[[random.Random], float] = lambda _source: 1.0
    clock_s: float = 0.0
    values: list[float] = field(default_factory=list)
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._factor = self.start(self.source)
        self.measure(self.kind.first)

    def restart(self) -> None:
        """The board starts anew."""
        self.clock_s += self.kind.restart_s
        self._factor = self.start(self.source)

    def measure(self, count: int, *, restarted: bool = False) -> None:
        """Draw so many repeats."""
        mean = NOMINAL * (1 + self.slowdown / 100) * self._factor
        first = 0 if restarted or not self.counts else self.counts[-1]
        before = len(self.values)
        self.values += [mean * self.shape(self.source, first + n) for n in range(count)]
        self.counts = more_repeats(self.counts, before, count, restarted=restarted)
        self.clock_s += count * self.kind.repeat_s

    def measurement(self) -> Measurement:
        """What is kept and compared."""
        said = summarize(self.values, self.counts)
        unit = "uJ" if self.kind.name.startswith("energy") else "us"
        name, count = self.kind.name, len(self.values)
        return Measurement(
            name,
            said.centre,
            unit,
            "lower",
            "measured",
            spread=said.spread,
            repeats=count,
            repeated=said,
        )

    def entry(self) -> Entry:
        """What a baseline has of it."""
        return entry_of("ab" * 32, BOARD, [self.measurement()], None, LIMIT)

    def enough(self, seconds: float = 30.0) -> Enough:
        """What measures more of it."""
        subject = cast(Subject, SimpleNamespace(board=self))
        return Enough(subject, [_Figure(self)], LIMIT, seconds, lambda: self.clock_s)


class _Figure(Metric):
    """The figure of a rig, as a metric."""

    def __init__(self, rig: Rig) -> None:
        self.declaration = latency.DECLARATION
        self._rig = rig

    def provide(self, _subject: Subject) -> None:
        """It is measured."""

    def measured(self, _subject: Subject, _declared: Any) -> bool:
        """It is measured."""
        return True

    def measurements(self, _subject: Subject) -> Iterator[Measurement]:
        """The one figure."""
        yield self._rig.measurement()

    def repeat(self, _subject: Subject, _name: str, count: int, /, *, restarted: bool) -> bool:
        """Draw more."""
        self._rig.measure(count, restarted=restarted)
        return True

    def rows(self, _subject: Subject, _declared: Any) -> Iterator[Any]:
        """Nothing is judged by itself."""
        yield from ()


def baseline(rig: Rig, starts: int = 1) -> Entry:
    """A baseline of a rig, as a run that writes it makes it."""
    rig.enough(30.0 * starts).for_baseline(starts)
    return rig.entry()


def compared(kept: Entry, now: Rig, starts: int = 1) -> Comparison:
    """A comparison of a rig with a baseline, as a test makes it."""
    enough = now.enough()
    enough.against(kept, starts)
    return confirm(lambda: compare(kept, now.entry(), LIMIT, "f"), enough)


def normal(percent: float) -> Shape:
    """Normal noise."""
    return lambda source, _n: source.gauss(1, percent / 100)


def with_outliers(shape: Shape, share: float, factor: float) -> Shape:
    """A share of repeats so many times as long."""
    return lambda source, n: shape(source, n) * (factor if source.random() < share else 1)


def two_modes(shape: Shape, percent: float) -> Shape:
    """Each repeat in one of two modes."""
    return lambda source, n: shape(source, n) * (1 + source.choice((-0.5, 0.5)) * percent / 100)


def heavy_tails(percent: float, freedom: int = 3) -> Shape:
    """Student's noise: single repeats are far off, to both sides."""

    def draw(source: random.Random, _n: int) -> float:
        square = sum(source.gauss(0, 1) ** 2 for _ in range(freedom)) / freedom
        unit = source.gauss(0, 1) / math.sqrt(square) / math.sqrt(freedom / (freedom - 2))
        return max(0.1, 1 + percent / 100 * unit)

    return draw


def log_normal(percent: float) -> Shape:
    """Skewed noise: a long tail of slow repeats."""
    return lambda source, _n: math.exp(source.gauss(0, percent / 100))


def waiting(percent: float) -> Shape:
    """Never faster than the least, and a wait of exponential length."""
    return lambda source, _n: 1 + source.expovariate(100 / percent)


def warming(shape: Shape, percent: float, repeats: float = 10.0) -> Shape:
    """Drift within a start: it becomes slower by so much, half of that after some repeats."""
    return lambda source, n: shape(source, n) * (1 + percent / 100 * n / (n + repeats))


def sticky(percent: float, memory: float = 0.7) -> Shape:
    """Noise that remembers: repeats that follow each other are alike."""
    last = {"value": 0.0}

    def draw(source: random.Random, n: int) -> float:
        if n == 0:
            last["value"] = source.gauss(0, percent / 100)
        fresh = source.gauss(0, percent / 100) * math.sqrt(1 - memory**2)
        last["value"] = memory * last["value"] + fresh
        return 1 + last["value"]

    return draw


def sawtooth(shape: Shape, percent: float, period: int = 7) -> Shape:
    """A figure that rises and falls back, such as by a timer that beats with the inference."""
    return lambda source, n: shape(source, n) * (1 + percent / 100 * ((n % period) / period - 0.5))


def in_bursts(shape: Shape, share: float, factor: float, length: int = 3) -> Shape:
    """Outliers that come several in a row."""
    left = {"count": 0}

    def draw(source: random.Random, n: int) -> float:
        if left["count"] == 0 and source.random() < share / length:
            left["count"] = length
        if not left["count"]:
            return shape(source, n)
        left["count"] -= 1
        return factor * shape(source, n)

    return draw


def starts_of(percent: float, modes: float = 0.0) -> Callable[[random.Random], float]:
    """What each start is off: a normal factor, or one of two modes."""
    if modes:
        return lambda source: 1 + source.choice((-0.5, 0.5)) * modes / 100
    return lambda source: source.gauss(1, percent / 100)
