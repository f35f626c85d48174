"""Whether a board's clock is what it says: by what it measures itself, and by this PC's clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.units import si
from pytest_autodeploy.rpc.messages import ClockMode

if TYPE_CHECKING:
    from pytest_autodeploy.rpc.messages import BoardReport, Identity

BELIEVED_SHARE = 0.02
"""Oscillators without a crystal are off by about 1 %; modes differ by 100 % and more."""

BUSY_S = 1.0
"""How long the board infers while both clocks run: a call's latency is little of it."""

ATTEMPTS = 3
"""A loaded PC may be late at either end: a clock is wrong when it is wrong each time."""


@dataclass(frozen=True)
class _Moment:
    here_s: float
    ticks: int


def doubt_of_start(identity: Identity, report: BoardReport, wanted: ClockMode) -> str:
    """Why the times of a board cannot be those of the clock mode, by its own words; else empty."""
    mode = mode_name(wanted)
    if not any(identity.clocks_hz):
        return "the board does not tell its clock"
    if identity.clock is not wanted:
        return f"{mode} was not reached: the board runs in {mode_name(identity.clock)}"
    claimed = identity.clocks_hz[wanted]
    if report.clock_hz and not _believed(report.clock_hz, claimed):
        found, said = si(report.clock_hz, "Hz"), si(claimed, "Hz")
        return f"{mode} was not reached: the core runs at {found} as the board measures, not {said}"
    if report.failed_step:
        return f"{mode} may not have been reached: {report.failed_step} failed at the board's start"
    return ""


def tick_rate(
    identity: Identity, ask: Callable[[], BoardReport], infer: Callable[[], object]
) -> float | None:
    """How many ticks a board makes in a second of this PC's clock; None when it does not tell them.

    ``infer`` keeps the board busy for a while. The first rate that can be believed counts, else the
    median.
    """
    rates = []
    for _ in range(ATTEMPTS):
        rate = _ticks_per_s(ask, infer)
        if rate is None or _believed(rate, identity.tick_hz):
            return rate
        rates.append(rate)
    return statistics.median(rates)


def doubt_of_rate(identity: Identity, rate: float) -> str:
    """Why the ticks of a board are not what it says, by their ``tick_rate``; else empty."""
    if _believed(rate, identity.tick_hz):
        return ""
    off = 100 * (rate / identity.tick_hz - 1)
    mode, said, found = mode_name(identity.clock), si(identity.tick_hz, "Hz"), si(rate, "Hz")
    return (
        f"{mode} was not reached: by this PC's clock the board's ticks are {found}, not {said} "
        f"({off:+.1f} %)"
    )


def mode_name(mode: ClockMode) -> Literal["HP", "LP"]:
    """The mode as users name it."""
    return "HP" if mode is ClockMode.HIGH_PERFORMANCE else "LP"


def _ticks_per_s(ask: Callable[[], BoardReport], infer: Callable[[], object]) -> float | None:
    """What a call takes is about the same at both ends, and so no part of the difference."""
    began = _moment(ask)
    if began.ticks == 0:
        return None
    while time.monotonic() - began.here_s < BUSY_S:
        infer()
    ended = _moment(ask)
    return (ended.ticks - began.ticks) / (ended.here_s - began.here_s)


def _moment(ask: Callable[[], BoardReport]) -> _Moment:
    report = ask()
    return _Moment(time.monotonic(), report.ticks)


def _believed(found: float, claimed: float) -> bool:
    return abs(found - claimed) <= BELIEVED_SHARE * claimed
