"""Energy in the reports: the lines of Ambiq's characterization report, and the waveform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import in_full, si

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.energy import EnergyRecord
    from pytest_autodeploy.metrics.result import Recorded
    from pytest_autodeploy.session.energy import Waveform

    ByName = Mapping[str, Measurement]

MODES = {"hp": "HP", "lp": "LP"}
_KINDS = (
    "energy",
    "energy_resolution",
    "power",
    "power_peak",
    "power_idle",
    "power_time",
    "charge",
)
ENERGY_NAMES = frozenset(f"{kind}_{mode}" for kind in _KINDS for mode in MODES)
"""The measurements that `energy_figures` shows."""

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 64, 22


def energy_figures(result: Recorded) -> list[Figure]:
    """Time, energy and mean power of an inference in each clock mode that was measured."""
    by_name = {item.name: item for item in result.measurements}
    by_mode = {energy.mode.lower(): energy for energy in result.power}
    lines: list[Figure] = []
    for mode, text in MODES.items():
        if f"energy_{mode}" in by_name:
            lines += _of_mode(mode, text, by_name, by_mode.get(mode))
    return lines


def _of_mode(mode: str, text: str, by_name: ByName, energy: EnergyRecord | None) -> list[Figure]:
    notes = {
        "power_time": _windows(energy) if energy else "",
        "energy": _spread(mode, by_name),
        "power": _levels(mode, by_name),
    }
    labels = {"power_time": "latency", "energy": "energy", "power": "mean power"}
    shown = []
    for kind, label in labels.items():
        item = by_name[f"{kind}_{mode}"]
        value, exact = si(item.value, item.unit), in_full(item.value, item.unit)
        shown.append(Figure(f"[Power] {text} {label}", value, item.source, notes[kind], exact))
    return shown


def _windows(energy: EnergyRecord) -> str:
    windows = energy.windows
    seconds = sum(w.samples / w.rate_hz for w in windows) / len(windows)
    count = f"{len(windows)} windows" if len(windows) > 1 else "1 window"
    inferences = f"{energy.inferences} inference{'s' if energy.inferences != 1 else ''}"
    text = f"warm, mean of {count} of {inferences}, {si(seconds, 's')}, {energy.meter}"
    return one_line(text)


def _spread(mode: str, by_name: ByName) -> str:
    item = by_name[f"energy_{mode}"]
    parts = [item.note] if item.note else []
    if item.spread is not None:
        parts.append(f"standard deviation {si(item.spread, 'uJ')}")
    if least := by_name.get(f"energy_resolution_{mode}"):
        parts.append(f"differences from {si(least.value, 'uJ')} on are real")
    if charge := by_name.get(f"charge_{mode}"):
        parts.append(f"charge {si(charge.value, 'uC')}")
    return ", ".join(parts)


def _levels(mode: str, by_name: ByName) -> str:
    parts = [
        f"{kind} {si(item.value, item.unit)}"
        for kind in ("peak", "idle")
        if (item := by_name.get(f"power_{kind}_{mode}"))
    ]
    return ", ".join(parts)


def waveforms(record: TestRecord) -> list[dict[str, Any]]:
    """What the template of a waveform needs, for each clock mode of a record."""
    return [_waveform(each, each.waveform) for each in record.power if each.waveform]


def _waveform(energy: EnergyRecord, wave: Waveform) -> dict[str, Any]:
    bins = len(wave.most)
    seconds: float = max(bins * wave.bin_s, wave.window_s[1])
    top: float = 1.05 * max(0.0, *wave.most) or 1.0
    wide, high = WIDTH - LEFT, HEIGHT - BOTTOM

    def x(at_s: float) -> float:
        return round(LEFT + wide * at_s / seconds, 1)

    def y(watts: float) -> float:
        return round(high * (1 - min(max(watts, 0.0), top) / top), 1)

    middles = [x((number + 0.5) * wave.bin_s) for number in range(bins)]
    above, mean, below = (
        [*zip(middles, map(y, watts), strict=True)] for watts in (wave.most, wave.mean, wave.least)
    )
    start, end = (x(edge) for edge in wave.window_s)
    idle = energy.idle_mw
    return {
        "title": f"Power over time, {energy.mode}, first window",
        "source": energy.source,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "bottom": high,
        "envelope": _path([*above, *reversed(below)]),
        "mean": _path(mean),
        "window": {"x": start, "width": round(end - start, 1)},
        "idle": {"y": y(idle / 1e3), "label": f"idle {si(idle, 'mW')}"}
        if idle is not None
        else None,
        "top": si(1e3 * top, "mW"),
        "from": si(0, "s"),
        "to": si(seconds, "s"),
        "capture": one_line(energy.capture),
        "meter": one_line(energy.meter),
    }


def _path(points: Sequence[tuple[float, float]]) -> str:
    """A path in whole pixels, each relative to the one before: these repeat, and compress well."""
    whole = [(round(x), round(y)) for x, y in points]
    steps = zip(whole[1:], whole[:-1], strict=True)
    (x, y), moves = whole[0], [f"{a - c} {b - d}" for (a, b), (c, d) in steps]
    return f"M{x} {y}l{' '.join(moves)}"
