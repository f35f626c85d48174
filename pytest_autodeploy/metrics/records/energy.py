"""The energy of a model in one clock mode, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.limits.energy import Mode
from pytest_autodeploy.session.energy import Waveform

if TYPE_CHECKING:
    from pytest_autodeploy.session.energy import Energy, Window


@dataclass(frozen=True)
class WindowRecord:
    """What the meter saw in one window, over ``samples`` at ``rate_hz``."""

    samples: int
    rate_hz: float
    energy_uj: float
    charge_uc: float
    mean_mw: float
    peak_mw: float


@dataclass(frozen=True)
class EnergyRecord:
    """A measurement, see ``session.energy.Energy``; ``waveform`` is that of the first window."""

    mode: Mode
    meter: str
    source: Source
    note: str
    capture: str
    inferences: int
    idle_mw: float | None
    windows: tuple[WindowRecord, ...]
    waveform: Waveform | None


def energy_record(energy: Energy) -> EnergyRecord:
    """The record of an energy, its waveform in as many bins as a report shows."""
    return EnergyRecord(
        mode=energy.mode,
        meter=energy.meter,
        source=energy.source,
        note=energy.note,
        capture=energy.capture,
        inferences=energy.inferences,
        idle_mw=energy.idle_mw,
        windows=tuple(map(_window, energy.windows)),
        waveform=energy.windows[0].waveform.shown(),
    )


def _window(window: Window) -> WindowRecord:
    return WindowRecord(
        samples=window.samples,
        rate_hz=window.rate_hz,
        energy_uj=1e6 * window.energy_j,
        charge_uc=1e6 * window.charge_c,
        mean_mw=1e3 * window.mean_w,
        peak_mw=1e3 * window.peak_w,
    )
