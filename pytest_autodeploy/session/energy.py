"""The energy of a model in one clock mode, from one or more windows."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_autodeploy.base.measurement import Measurement, Source
from pytest_autodeploy.base.repeats import Repeats, odd_ones, summarize
from pytest_autodeploy.base.short_repr import short
from pytest_autodeploy.base.statistics import Spread, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_autodeploy.limits.energy import Mode


SHOWN_BINS = 320
DIGITS = 4


@dataclass(frozen=True)
class Waveform:
    """Least, mean and most power (W) of each bin of ``bin_s`` seconds; the last may be shorter.

    ``window_s`` is when the window begins and ends, in seconds from the first bin.
    """

    bin_s: float
    least: tuple[float, ...]
    mean: tuple[float, ...]
    most: tuple[float, ...]
    window_s: tuple[float, float]

    def __repr__(self) -> str:
        return short(self, bins=len(self.mean), bin_s=self.bin_s, window_s=self.window_s)

    def shown(self) -> Waveform:
        """The same with four digits, in as many bins as a report shows."""
        wide = -(-len(self.most) // SHOWN_BINS)
        return Waveform(
            bin_s=wide * self.bin_s,
            least=_merge(self.least, wide, min),
            mean=_merge(self.mean, wide, statistics.fmean),
            most=_merge(self.most, wide, max),
            window_s=self.window_s,
        )


def _merge(
    values: Sequence[float], wide: int, merge: Callable[[Sequence[float]], float]
) -> tuple[float, ...]:
    groups = (values[start : start + wide] for start in range(0, len(values), wide))
    return tuple(float(f"{merge(group):.{DIGITS}g}") for group in groups)


class Window(Protocol):
    """What the meter saw while the model ran: the sums over a window's samples.

    ``idle_w`` is the mean power before the handshake, None when it was not seen.
    """

    @property
    def rate_hz(self) -> float: ...
    @property
    def energy_j(self) -> float: ...
    @property
    def charge_c(self) -> float: ...
    @property
    def mean_w(self) -> float: ...
    @property
    def peak_w(self) -> float: ...
    @property
    def idle_w(self) -> float | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def samples(self) -> int: ...
    @property
    def waveform(self) -> Waveform: ...


@dataclass(frozen=True)
class Energy:
    """What a measurement in the clock ``mode`` gave, by the ``meter`` of that name.

    ``windows`` are what the meter saw, each while ``inferences`` ran; the properties are means
    over them. Energies are in microjoules, powers in milliwatts, times in microseconds, all of
    ``source``. ``note`` says what was remarkable, ``capture`` is the file with the raw stream,
    empty when it was not kept. ``counts`` are the windows of each start of the board, in order;
    empty when all are of one.
    """

    mode: Mode
    inferences: int
    windows: tuple[Window, ...]
    source: Source
    meter: str
    note: str = ""
    capture: str = ""
    counts: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return short(
            self,
            mode=self.mode,
            uj=self.uj,
            mean_mw=self.mean_mw,
            us=self.us,
            inferences=self.inferences,
            windows=len(self.windows),
            source=self.source,
            meter=self.meter,
        )

    @property
    def windows_uj(self) -> list[float]:
        """Energy of one inference by each window."""
        return [1e6 * w.energy_j / self.inferences for w in self.windows]

    @property
    def repeated(self) -> Repeats:
        """What the windows say together."""
        return summarize(self.windows_uj, self.counts)

    @property
    def odd(self) -> str:
        """The windows that differ from the others by more than these do, in words."""
        values = self.windows_uj
        middle = statistics.median(values)
        odd = [f"{n + 1} ({100 * (values[n] / middle - 1):+.3g} %)" for n in odd_ones(values)]
        if not odd:
            return ""
        which = "window" if len(odd) == 1 else "windows"
        return f"of {len(values)} windows, {which} {', '.join(odd)} differ from the others"

    @property
    def per_inference(self) -> Spread:
        """Energy of one inference in uJ: mean, deviation, resolution."""
        edge = max(2 * w.mean_w / w.rate_hz for w in self.windows) / self.inferences
        return spread(self.windows_uj, 1e6 * edge)

    @property
    def uj(self) -> float:
        """Energy of one inference."""
        return self.per_inference.mean

    @property
    def us(self) -> float:
        """Time of one inference, by the count of samples."""
        return 1e6 * self.seconds / self.inferences

    @property
    def uc(self) -> float:
        """Charge of one inference, in microcoulombs."""
        return 1e6 * statistics.fmean(w.charge_c for w in self.windows) / self.inferences

    @property
    def seconds(self) -> float:
        """Mean duration of a window."""
        return statistics.fmean(window.seconds for window in self.windows)

    @property
    def mean_mw(self) -> float:
        """Mean power within the windows: all energy over all time."""
        joules = sum(window.energy_j for window in self.windows)
        return 1e3 * joules / sum(window.seconds for window in self.windows)

    @property
    def peak_mw(self) -> float:
        """The highest sample of all windows."""
        return 1e3 * max(window.peak_w for window in self.windows)

    @property
    def idle_mw(self) -> float | None:
        """Mean power of the board that waits for the trigger; None when it was not seen."""
        levels = [w.idle_w for w in self.windows if w.idle_w is not None]
        return 1e3 * statistics.fmean(levels) if levels else None

    def measurements(self) -> Iterator[Measurement]:
        """The figures, each under a name that ends with the mode."""
        energy, repeats = self.per_inference, len(self.windows)
        values: tuple[tuple[str, float | None, str], ...] = (
            ("energy_resolution", energy.resolution, "uJ"),
            ("power", self.mean_mw, "mW"),
            ("power_peak", self.peak_mw, "mW"),
            ("power_idle", self.idle_mw, "mW"),
            ("power_time", self.us, "us"),
            ("charge", self.uc, "uC"),
        )
        mode = self.mode.lower()
        yield Measurement(
            f"energy_{mode}",
            energy.mean,
            "uJ",
            "lower",
            self.source,
            "; ".join(filter(None, (self.note, self.odd))),
            spread=energy.deviation,
            repeats=repeats,
            repeated=self.repeated,
        )
        for name, value, unit in values:
            if value is not None:
                yield Measurement(f"{name}_{mode}", value, unit, "lower", self.source)

    def measurement(self, name: str) -> Measurement:
        """One of ``energy``, ``power`` and the others."""
        full = f"{name}_{self.mode.lower()}"
        return next(value for value in self.measurements() if value.name == full)
