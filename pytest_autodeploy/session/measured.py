"""What a session gives: the results of inferences, their time, memory, and layers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Measurement, Source
from pytest_autodeploy.base.repeats import Repeats, more_repeats, summarize
from pytest_autodeploy.base.short_repr import shapes, short
from pytest_autodeploy.profile.histogram import histogram
from pytest_autodeploy.profile.records import Histogram
from pytest_autodeploy.session.arena_search import STEP_BYTES

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.facts import OutputFacts
    from pytest_autodeploy.reference.inputs import Inputs


def incomplete_text(operators: tuple[str, ...]) -> str:
    """What a figure leaves out, such as ``incomplete: no model of the cost of SignalRfft``."""
    return f"incomplete: no model of the cost of {', '.join(operators)}" if operators else ""


@dataclass(frozen=True)
class RunResult:
    """Inferences on the board.

    ``inputs``: what they ran on. ``outputs``: one array per output tensor, of shape
    (n, *tensor shape) and the tensor's dtype: stored values, not dequantised. ``reset_each``: the
    state of the model was reset before each of them.
    """

    inputs: Inputs
    outputs: tuple[np.ndarray, ...]
    reset_each: bool = False
    facts: tuple[OutputFacts, ...] = ()
    """What each output says of itself: NaN, infinity, always the same, saturated."""

    def __repr__(self) -> str:
        outputs = shapes(self.outputs)
        return short(self, inferences=self.inputs.count, outputs=outputs, inputs=self.inputs.origin)

    @classmethod
    def of(
        cls, model: Model, inputs: Inputs, outputs: tuple[np.ndarray, ...], *, reset_each: bool
    ) -> RunResult:
        """What a model made of inputs, with what the outputs say of themselves."""
        from pytest_autodeploy.reference.facts import all_facts

        return cls(inputs, outputs, reset_each, tuple(all_facts(model.outputs, outputs)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the inputs tell little about the outputs, if so."""
        return tuple(text for facts in self.facts for text in facts.warnings)


@dataclass(frozen=True)
class Latency:
    """Time of inferences in microseconds.

    ``first_us`` is that of the first since the model was set up, ``samples_us`` those after it.
    ``source``: "measured" on hardware, "emulated" or "modelled".
    """

    first_us: float
    samples_us: tuple[float, ...]
    source: Source
    incomplete: tuple[str, ...] = ()
    """Operators that the times leave out: a model of time does not know their work."""

    counts: tuple[int, ...] = ()
    """Of the samples of each start of the board, in order; empty when all are of one."""

    doubt: str = ""
    """Why they are not times in the clock mode that was wanted, empty when nothing is known."""

    def with_more(self, samples_us: Sequence[float], *, restarted: bool) -> Latency:
        """The same with more samples, of the last start of the board or of a new one."""
        before, more = len(self.samples_us), len(samples_us)
        counts = more_repeats(self.counts, before, more, restarted=restarted)
        return replace(self, samples_us=(*self.samples_us, *samples_us), counts=counts)

    @property
    def histogram(self) -> Histogram | None:
        """How the times after the first are spread; None without any."""
        return histogram(self.samples_us, self.source)

    @property
    def repeated(self) -> Repeats:
        """What the samples say together."""
        return summarize(self.samples_us, self.counts)

    def __repr__(self) -> str:
        return short(
            self,
            first_us=self.first_us,
            median_us=self.median_us,
            samples=len(self.samples_us),
            source=self.source,
        )

    @property
    def median_us(self) -> float:
        """Median of the inferences after the first."""
        return statistics.median(self.samples_us)

    @property
    def p95_us(self) -> float:
        """The smallest sample that at least 95 % of the samples do not exceed (nearest rank)."""
        ordered = sorted(self.samples_us)
        return ordered[-(-95 * len(ordered) // 100) - 1]

    @property
    def max_us(self) -> float:
        """The slowest inference after the first."""
        return max(self.samples_us)

    @property
    def spread_us(self) -> float | None:
        """Standard deviation of the inferences after the first, None of a single one.

        It is without outliers, and within a start of the board.
        """
        return self.repeated.spread

    def measurement(self, statistic: str) -> Measurement:
        """One of ``median``, ``p95``, ``max``, ``first``."""
        name, value = f"latency_{statistic}", getattr(self, f"{statistic}_us")
        if statistic != "median":
            return Measurement(name, value, "us", "lower", self.source, self.note)
        return Measurement(
            name,
            value,
            "us",
            "lower",
            self.source,
            self.note,
            spread=self.spread_us,
            repeats=len(self.samples_us),
            repeated=self.repeated,
        )

    @property
    def note(self) -> str:
        """What the times leave out and why they are doubted, in words."""
        parts = (incomplete_text(self.incomplete), self.doubt)
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class MemoryUse:
    """Memory in bytes.

    ``arena_used_bytes`` is what the engine says it uses of ``arena_given_bytes``, its tensor arena;
    ``model_bytes`` is the size of the model file. ``source`` is that of the arena's use, ``note``
    says who counted it when it was not the board.
    """

    arena_used_bytes: int
    arena_given_bytes: int
    model_bytes: int
    source: Source
    note: str = ""


@dataclass(frozen=True)
class TunedArena:
    """The smallest arena that was found to run the model.

    ``arena_bytes`` is its size, found after ``tries`` of a size on a board of that ``source``. TFLM
    does not count every temporary peak, so it is more than what the engine says it used. In
    ``failed_bytes`` the model did not run: 16 bytes less, unless the bounds ended the search.
    """

    arena_bytes: int
    tries: int
    source: Source
    failed_bytes: int = 0

    @property
    def exact(self) -> bool:
        """Whether the model runs in no smaller arena."""
        return self.arena_bytes - self.failed_bytes <= STEP_BYTES
