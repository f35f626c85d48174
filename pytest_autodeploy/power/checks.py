"""Whether the figures of a window can be trusted; each check has a message of its own."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pytest_autodeploy.base.units import si
from pytest_autodeploy.power.errors import WindowFault, WiringFault
from pytest_autodeploy.power.window import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_autodeploy.power.window import Window

LEAST_VOLTS = 0.5
LEAST_SAMPLES = 100
"""Each edge of a window is known to one sample."""

WINDOW_SHARE = 0.98
LATENCY_SHARE = 0.1
CLOCK_SHARE = 0.1
ALIKE_SHARE = 0.1
"""Windows of the same inferences are the same time, but for caches and clocks."""

ENERGY_SHARE = 1e-3


def check_window(
    window: Window,
    *,
    board: str,
    pins: Mapping[str, int],
    inferences: int,
    least_s: float,
    latency_us: float | None,
    board_us: float | None = None,
) -> None:
    """Raise WiringFault or WindowFault for a window that is not to be trusted.

    ``least_s`` is how long it should last at least. By the board's own clock an inference takes
    ``latency_us``, and the window lasted ``board_us``; None when that cannot be compared.
    """
    check_ending(window, board=board, pins=pins)
    check_supply(window.mean_v, board=board)
    check_direction(window, board=board)
    faults = (
        _faults(window, inferences, least_s),
        _clock_faults(window, board_us),
        _time_faults(window, inferences, latency_us),
        _energy_faults(window),
    )
    for text, hint in chain.from_iterable(faults):
        raise WindowFault(text, board=board, hint=hint)


def check_ending(window: Window, *, board: str, pins: Mapping[str, int]) -> None:
    """Raise WiringFault for a window that did not end with In1 alone."""
    if window.ending is Ending.IN0:
        raise WiringFault(
            "In0 and In1 are swapped: the window ended with In0",
            board=board,
            hint=f"In0 belongs on {pin(pins, 'in0')}, In1 on {pin(pins, 'in1')}.",
        )
    if window.ending is Ending.BOTH:
        raise WiringFault(
            "In0 and In1 rose together at the end of the window",
            board=board,
            hint="The lines touch each other, or the board began another handshake.",
        )


def check_supply(volts: float, *, board: str) -> None:
    """Raise WindowFault when the meter sees no supply voltage."""
    if volts < LEAST_VOLTS:
        raise WindowFault(
            f"the supply is off: the meter sees {si(1e3 * volts, 'mV')}",
            board=board,
            hint="Feed the board through the meter: IN to the supply, OUT to the board.",
        )


def check_direction(window: Window, *, board: str) -> None:
    """Raise WindowFault when the current flows backwards: no energy is below 0."""
    if window.charge_c <= 0 or window.energy_j <= 0:
        raise WindowFault(
            f"the mean current is {si(1e3 * window.charge_c / window.seconds, 'mA')}, not above 0",
            board=board,
            hint="The leads are swapped: IN belongs to the supply, OUT to the board.",
        )


def check_alike(windows: Sequence[Window], *, board: str) -> None:
    """Raise WindowFault when windows of one measurement differ in their time."""
    shortest = min(window.seconds for window in windows)
    longest = max(window.seconds for window in windows)
    if longest > (1 + ALIKE_SHARE) * shortest:
        raise WindowFault(
            f"the {len(windows)} windows differ in time: {si(1e6 * shortest, 'us')} to"
            f" {si(1e6 * longest, 'us')}",
            board=board,
            hint="A glitch on In1 ended one early, or they are of several models: look at the"
            " capture.",
        )


def pin(pins: Mapping[str, int], name: str) -> str:
    """A line's pin on the board, in words."""
    return f"GPIO {pins[name]}" if name in pins else "its pin"


def _faults(window: Window, inferences: int, least_s: float) -> Iterator[tuple[str, str]]:
    if window.missing:
        yield (
            f"{window.missing} of {window.samples} samples of the window are missing",
            "The PC was too busy, or the USB link lost data: use another port, without a hub.",
        )
    if window.clipped:
        yield (
            f"{window.clipped} of {window.samples} samples of the window are clipped",
            "Current or voltage are at the bounds of the meter.",
        )
    if window.samples < LEAST_SAMPLES or window.seconds < WINDOW_SHARE * least_s:
        yield (
            f"the window is too short: {si(1e6 * window.seconds, 'us')}, "
            f"{window.samples} samples, {inferences} inferences",
            f"It should have {LEAST_SAMPLES} samples and {least_s:g} s at least: "
            "run more inferences.",
        )


def _time_faults(
    window: Window, inferences: int, latency_us: float | None
) -> Iterator[tuple[str, str]]:
    if not latency_us:
        return
    expected_us = latency_us * inferences
    off = 1e6 * window.seconds / expected_us - 1
    if abs(off) > LATENCY_SHARE:
        yield (
            f"the window lasted {si(1e6 * window.seconds, 'us')}, but inferences times latency are "
            f"{inferences} * {si(latency_us, 'us')} = {si(expected_us, 'us')} ({100 * off:+.1f} %)",
            "Its edges are wrong, or the board ran at another clock than it said.",
        )


def _clock_faults(window: Window, board_us: float | None) -> Iterator[tuple[str, str]]:
    """The meter counts samples, the board the ticks of its window."""
    if board_us is None:
        return
    window_us = 1e6 * window.seconds
    off = board_us / window_us - 1
    if abs(off) > CLOCK_SHARE:
        yield (
            f"the window lasted {si(window_us, 'us')} by the meter's samples, but "
            f"{si(board_us, 'us')} by the board's own ticks ({100 * off:+.1f} %)",
            "One of the two clocks is wrong: the meter's sampling rate, or the clock that the "
            "board says it runs at.",
        )


def _energy_faults(window: Window) -> Iterator[tuple[str, str]]:
    """The energy is a sum, the mean is over the samples that came, the time goes by their ids."""
    joules = window.mean_w * window.seconds
    if abs(joules - window.energy_j) > ENERGY_SHARE * abs(joules):
        yield (
            f"the energy {si(1e6 * window.energy_j, 'uJ')} is not mean power times time, "
            f"{si(1e6 * joules, 'uJ')}",
            "Samples were lost, or came twice, without the meter noticing.",
        )
