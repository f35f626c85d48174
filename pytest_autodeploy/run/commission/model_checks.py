"""Whether models give the right outputs in believable times, wherever their arena is."""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.units import si
from pytest_autodeploy.catalog.kinds import spec_of
from pytest_autodeploy.run.commission.own_models import CNN, DENSE, SVDF
from pytest_autodeploy.run.commission.rig import Rig
from pytest_autodeploy.run.commission.rows import Check, Finding, NotApplicable

if TYPE_CHECKING:
    from pytest_autodeploy.session.model_session import ModelSession

MOST_STEPS = {SVDF: 1}
"""CMSIS-NN's SVDF (the one in helia-rt 1.3) was found one step off TFLM's own in 1 of 80 values."""

FLOAT_SHARE = 1e-5
"""Of the largest output: cores that multiply and add in one step round once less."""

COLD_SHARE = 0.005
"""The least by which a first inference is slower where a cache was empty."""

MOST_SPREAD = 0.02
"""Of latencies: from the median to the 99th of 100."""

MOST_PROFILER = 0.25
"""What the profiler may take of a profiled inference."""

MEMORIES = ("dtcm", "sram")


def _outputs(rig: Rig, name: str) -> Finding:
    session = rig.session(name)
    run = session.run()
    rig.outputs[name] = run.outputs
    wrong = most = 0.0
    for found, right in zip(run.outputs, rig.expected(name), strict=True):
        apart = abs(found.astype(float) - right.astype(float))
        wrong += int((apart > _allowed(name, right)).sum())
        most = max(most, float(apart.max()))
    count = sum(output.size for output in run.outputs)
    return Finding(f"{wrong:g} of {count} values are off, by {most:.3g} at most", not wrong)


def _allowed(name: str, right: object) -> float:
    import numpy as np

    array = np.asarray(right)
    floats = array.dtype.kind == "f"
    return FLOAT_SHARE * float(abs(array).max()) if floats else MOST_STEPS.get(name, 0)


def _first(rig: Rig) -> Finding:
    session = rig.session(CNN)
    if session.source != "measured":
        raise NotApplicable(f"{session.source}: there are no caches")
    latency = session.time_runs(20)
    share = latency.first_us / latency.median_us - 1
    text = (
        f"{si(latency.first_us, 'us')}, warm {si(latency.median_us, 'us')} ({100 * share:+.1f} %)"
    )
    return Finding(text, share >= COLD_SHARE)


def _repeats(rig: Rig) -> Finding:
    session = rig.session(DENSE)
    samples = sorted(session.time_runs(rig.effort.latencies).samples_us)
    median = statistics.median(samples)
    high = samples[min(len(samples) - 1, round(0.99 * len(samples)))]
    spread = high / median - 1
    text = f"median {si(median, 'us')}, p99 {100 * spread:+.2f} %, longest {si(samples[-1], 'us')}"
    return Finding(f"{text} of {len(samples)}", spread <= MOST_SPREAD)


def _profiler(rig: Rig) -> Finding:
    session = rig.session(CNN)
    if not session.has_profile:
        raise NotApplicable("the firmware has no profiler")
    warm = session.time_runs(20).median_us
    profile = session.profile()
    total = sum(layer.us for layer in profile.layers)
    share = total / warm - 1
    text = f"the layers sum up to {si(total, 'us')}, the inference takes {si(warm, 'us')} "
    return Finding(f"{text}({100 * share:+.1f} %)", abs(share) <= MOST_PROFILER)


def _resets(rig: Rig) -> Finding:
    session = rig.session(DENSE)
    back = 0
    for _ in range(rig.effort.resets):
        try:
            session.restart()
        except AutodeployError as error:
            rig.give_up()
            return Finding(f"back {back} times, then: {error.what}", False)
        back += 1
    return Finding(f"back {back} times of {rig.effort.resets}", True)


def _arena_in(rig: Rig, memory: str) -> Finding:
    if memory not in spec_of(rig.board_id).memories:
        raise NotApplicable(f"the board has no {memory.upper()}")
    session = rig.session(CNN, arena_memory=memory)
    run, latency = session.run(), session.time_runs(20)
    elsewhere = rig.outputs.get(CNN) or rig.expected(CNN)
    pairs = zip(run.outputs, elsewhere, strict=True)
    wrong = sum(int((found != right).sum()) for found, right in pairs)
    place = _place(session)
    text = f"{wrong} values differ; {si(latency.median_us, 'us')}{f' in {place}' if place else ''}"
    # A machine of QEMU has one memory, for which its firmware has no name of the catalog.
    misplaced = place.lower() in session.board.spec.memories and place != memory.upper()
    return Finding(text, not wrong and not misplaced)


def _place(session: ModelSession) -> str:
    """Where the board says that the arena is; empty when it does not say."""
    with session.calls():
        placements = session.board.client.describe_board().placements
    parts = (part for part in placements if part.part == "arena")
    return next((part.memory.upper() for part in parts), "")


CHECKS = (
    *(
        Check(
            f"outputs: {text}",
            f"TFLM's on this PC, {how}",
            f"`autodeploy diff` with --evb tells the operator: {name}",
            partial(_outputs, name=name),
        )
        for name, text, how in (
            (CNN, "int8 CNN", "bit by bit"),
            (DENSE, "float dense", f"within {FLOAT_SHARE:g}"),
            (SVDF, "int8 SVDF", "within one step"),
        )
    ),
    Check(
        "first inference",
        f"at least {100 * COLD_SHARE:g} % slower than those after it",
        "is the cache on? Firmware of another SDK may leave it off",
        _first,
    ),
    Check(
        "latency: repeats",
        f"p99 within {100 * MOST_SPREAD:g} % of the median",
        "something interrupts the inferences: look for timers and radios in the firmware",
        _repeats,
    ),
    Check(
        "profiler",
        f"layers sum up to the latency within {100 * MOST_PROFILER:g} %",
        "take latencies from runs without the profiler, as this plugin does",
        _profiler,
    ),
    Check(
        "reset",
        "the board comes back and identifies each time",
        "look at the supply and the reset button; try another USB port",
        _resets,
    ),
)

PLACES = tuple(
    Check(
        f"arena in {memory.upper()}",
        "the outputs that the board gave before",
        "that memory does not hold what is written: leave it out (--evb-arena-memory), tell us",
        partial(_arena_in, memory=memory),
    )
    for memory in MEMORIES
)
"""They need other images, so that they come last."""
