"""Whether the board's ticks are what it says, in each clock mode and over the whole run."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pytest_autodeploy.base.units import si
from pytest_autodeploy.run.commission.own_models import CNN
from pytest_autodeploy.run.commission.rig import Rig
from pytest_autodeploy.run.commission.rows import Check, Finding, NotApplicable, NotJudged
from pytest_autodeploy.session.clock import ATTEMPTS, BELIEVED_SHARE

if TYPE_CHECKING:
    from typing import Literal

    from pytest_autodeploy.rpc.client import ValidatorClient

RATIO_SHARE = 0.05
"""How far latencies may be from the ratio of clocks: memories do not all go with the core."""

TIMED = 20
READINGS = 5
WRAP = 1 << 32
"""Where a 32-bit counter begins anew."""


def _rate(rig: Rig, mode: Literal["HP", "LP"]) -> Finding:
    session = rig.session(CNN)
    session.ensure()
    if not session.identity.clocks_hz[mode == "HP"]:
        raise NotApplicable(f"the board has no {mode} mode")
    if session.source == "emulated":
        raise NotApplicable("emulated: its ticks count instructions")
    if not session.report.ticks:
        raise NotApplicable(f"{session.source}: its ticks are not those of a clock")
    with session.at_clock(mode) if mode != session.clock else nullcontext():
        said = session.identity.tick_hz
        for _ in range(ATTEMPTS):  # a loaded PC may be late at either end
            found = _ticks_per_s(rig)
            if abs(found / said - 1) <= BELIEVED_SHARE:
                break
    off = found / said - 1
    text = f"{si(found, 'Hz')} ({100 * off:+.2f} %), {si(said, 'Hz')} said"
    return Finding(text, abs(off) <= BELIEVED_SHARE)


def _ticks_per_s(rig: Rig) -> float:
    """By this PC's clock, while the board infers."""
    session = rig.session(CNN)
    outputs = session.empty_outputs(session.inputs.count)
    session.set_up()
    with session.calls():
        first_s, first = _moment(session.board.client)
        rig.ticks.append(first)
        while time.monotonic() - first_s < rig.effort.seconds:
            session.infer(session.inputs, 0, outputs)
            rig.ticks.append(session.board.client.describe_board().ticks)
        last_s, last = _moment(session.board.client)
    rig.ticks.append(last)
    return (last - first) / (last_s - first_s)


def _moment(client: ValidatorClient) -> tuple[float, int]:
    """This PC's clock and the board's ticks, from the quickest of some readings."""
    readings = []
    for _ in range(READINGS):
        before = time.monotonic()
        ticks = client.describe_board().ticks
        after = time.monotonic()
        readings.append((after - before, (before + after) / 2, ticks))
    _, here_s, ticks = min(readings)
    return here_s, ticks


def _ratio(rig: Rig) -> Finding:
    session = rig.session(CNN)
    clocks = session.identity.clocks_hz
    if not all(clocks):
        raise NotApplicable("the board has one clock mode")
    expected = clocks[1] / clocks[0]
    medians = {}
    for mode in ("HP", "LP"):
        with session.at_clock(mode):
            medians[mode] = session.time_runs(TIMED).median_us
    found = medians["LP"] / medians["HP"]
    text = f"LP takes {found:.3f} times as long, the clocks say {expected:.3f}"
    return Finding(text, abs(found / expected - 1) <= RATIO_SHARE)


def _wrap(rig: Rig) -> Finding:
    if not rig.ticks:
        raise NotApplicable("the board has no ticks of a clock beside those of inferences")
    back = sum(after < before for before, after in zip(rig.ticks, rig.ticks[1:], strict=False))
    if back:
        return Finding(f"ticks went back {back} times in {len(rig.ticks)} readings", False)
    if rig.ticks[-1] // WRAP == rig.ticks[0] // WRAP:
        raise NotJudged(
            f"ticks went from {rig.ticks[0]:,} to {rig.ticks[-1]:,}, past no multiple of 2**32",
            hint="give it longer: --seconds 30",
        )
    return Finding(f"ticks went on to {rig.ticks[-1]:,}, past 2**32", True)


_CLOCK_ADVICE = (
    "check the crystal and the board's jumpers; times are of another clock than they say"
)

CHECKS = (
    Check(
        "ticks: HP",
        f"this PC's clock within {100 * BELIEVED_SHARE:g} %",
        _CLOCK_ADVICE,
        lambda rig: _rate(rig, "HP"),
    ),
    Check(
        "ticks: LP",
        f"this PC's clock within {100 * BELIEVED_SHARE:g} %",
        _CLOCK_ADVICE,
        lambda rig: _rate(rig, "LP"),
    ),
    Check(
        "ticks: HP to LP",
        f"the ratio of the catalog's clocks within {100 * RATIO_SHARE:g} %",
        "a mode was not reached: low battery or supply, or firmware of another SDK",
        _ratio,
    ),
    Check(
        "ticks: wrap",
        "they go on where a 32-bit counter begins anew",
        "the firmware misses a wrap of its counter: send us the zip",
        _wrap,
    ),
)
