"""How numbers are written for people: SI prefixes for time, energy and counts; 1 KB is 1024 B."""

from __future__ import annotations

import math

_PREFIXES = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9))
_SCALED = {  # unit: (symbol, factor to the symbol, largest and smallest prefix)
    "ns": ("s", 1e-9, 1.0, 1e-9),
    "us": ("s", 1e-6, 1.0, 1e-9),
    "ms": ("s", 1e-3, 1.0, 1e-9),
    "s": ("s", 1.0, 1.0, 1e-9),
    "uJ": ("J", 1e-6, 1.0, 1e-9),
    "uC": ("C", 1e-6, 1.0, 1e-9),
    "mV": ("V", 1e-3, 1.0, 1e-3),
    "mW": ("W", 1e-3, 1.0, 1e-9),
    "uW": ("W", 1e-6, 1.0, 1e-9),
    "uA": ("A", 1e-6, 1.0, 1e-9),
    "Hz": ("Hz", 1.0, 1e9, 1.0),
    "1": ("", 1.0, 1e9, 1.0),
    "1/s": ("/s", 1.0, 1e9, 1.0),
}
_IN_FULL = {
    "us": (1e-3, "ms"),
    "uJ": (1.0, "uJ"),
    "mW": (1.0, "mW"),
    "1/s": (1.0, "/s"),
    "1": (1.0, ""),
}
_PLAIN_COUNT_BELOW = 10_000


def si(value: float | None, unit: str) -> str:
    """Write a value with a fitting prefix: ``si(231400, "us")`` is ``231.4 ms``.

    Values below 10 have two decimals (below 1: three digits), others one; whole values that need
    no prefix have none.
    Bytes become KB of 1024 B and MB of 1024 KB. None is ``unknown``.
    """
    if value is None:
        return "unknown"
    if not math.isfinite(value):
        return _join(str(value), "" if unit == "1" else unit)
    if unit == "B":
        return _bytes(value)
    if unit not in _SCALED or (unit == "1" and _is_small_count(value)):
        return _join(_decimals(value), "" if unit == "1" else unit)
    return _prefix(value, *_SCALED[unit])


def group_digits(value: float | None, decimals: int = 0) -> str:
    """Write a value exactly, with thousands set apart: ``9,176,380``; None is ``unknown``."""
    return "unknown" if value is None else f"{value:,.{decimals}f}"


def in_full(value: float, unit: str) -> str:
    """Write a value to be compared digit by digit, beside what ``si`` gives; "" for other units.

    Counts and bytes in full, times in milliseconds, energies in microjoules, powers in milliwatts,
    rates and ratios, all with three decimals, as Ambiq's characterization report has them.
    """
    if not math.isfinite(value):
        return ""
    if unit in ("1", "B") and value == round(value):
        return _join(f"{value:,.0f}", "" if unit == "1" else unit)
    factor, symbol = _IN_FULL.get(unit, (0.0, ""))
    return _join(f"{value * factor:,.3f}", symbol) if factor else ""


def percent(part: float, whole: float) -> str:
    """Write a share as per cent with one decimal."""
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"


def _prefix(value: float, symbol: str, factor: float, most: float, least: float) -> str:
    base = value * factor
    for prefix, size in _PREFIXES:
        if least <= size <= most and round(abs(base) / size, 2) >= 1:
            return _join(_decimals(base / size, whole=size == factor), prefix + symbol)
    smallest = factor if base == 0 else least
    prefix = next(name for name, size in _PREFIXES if size == smallest)
    return _join(_decimals(base / smallest, whole=base == 0), prefix + symbol)


def _bytes(value: float) -> str:
    for symbol, size in (("MB", 1024**2), ("KB", 1024)):
        if round(abs(value) / size, 2) >= 1:
            return _join(_decimals(value / size, whole=False), symbol)
    return _join(_decimals(value), "B")


def _decimals(value: float, *, whole: bool = True) -> str:
    if whole and value == round(value):
        return f"{value:.0f}"
    if round(abs(value), 2) < 1:
        return f"{value:.3g}"
    return f"{value:.2f}" if round(abs(value), 2) < 10 else f"{value:.1f}"


def _is_small_count(value: float) -> bool:
    return abs(value) < _PLAIN_COUNT_BELOW and value == round(value)


def _join(number: str, symbol: str) -> str:
    return f"{number} {symbol}".rstrip() if not symbol.startswith("/") else number + symbol
