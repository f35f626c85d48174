"""Energy measured live: windows that the board marks, cut out of a meter's stream."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.power.capture import About, CaptureWriter
from pytest_autodeploy.power.checks import check_alike, check_window
from pytest_autodeploy.power.errors import PowerError, WindowFault
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.plan import WAIT_S, Plan, plan
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.session.energy import Energy
from pytest_autodeploy.session.measured import incomplete_text

if TYPE_CHECKING:
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.meter import Chunk, Meter, MeterFacts
    from pytest_autodeploy.rpc.messages import PowerRun
    from pytest_autodeploy.session.model_session import ModelSession

LOG = logging.getLogger(__name__)

TIMED_RUNS = 2
"""Inferences that the plan is made from, after the first."""


@dataclass(frozen=True)
class PowerOptions:
    """How energy is measured: the least duration of a window, and how many windows.

    ``exact_repeats`` are those on a board whose times are always the same, None for ``repeats``.
    ``runs`` is the count of inferences in a window, None to plan it. ``modes`` are the clock modes
    that are measured when none is named. ``captures`` gives the file
    that a measurement's raw stream is kept in, None to keep none.
    """

    window_s: float = 1.0
    repeats: int = 3
    exact_repeats: int | None = None
    runs: int | None = None
    modes: tuple[str, ...] = ("HP", "LP")
    captures: Callable[[ModelSession, Mode], Path] | None = None


def measured(
    session: ModelSession, meter: Meter, options: PowerOptions, mode: Mode, runs: int | None
) -> Energy:
    """The energy of one inference in a clock mode. Raises PowerError, or a BoardError.

    The model is run by ``runs`` in each window, None to plan that.
    """
    facts = meter.open()
    meter.supply(True)
    with session.at_clock(mode), ExitStack() as stack:
        median_us = _latency_us(session)
        planned = plan(median_us, options.window_s, runs)
        LOG.debug("%s at %s: windows of %d inferences", session, mode, planned.inferences)
        kept = ""
        chunks: Iterator[Chunk] = stack.enter_context(meter.streaming())
        if options.captures:
            path = options.captures(session, mode)
            about = _about(session, mode, facts, planned)
            writer = stack.enter_context(CaptureWriter(path, facts, about))
            chunks, kept = _kept(chunks, writer), str(path)
        handshake = _handshake(session, meter, facts)
        windows = _windows(session, handshake, chunks, planned, _repeats(session, options))
    note = incomplete_text(session.incomplete)
    return Energy(mode, planned.inferences, windows, facts.source, facts.name, note, kept)


def _repeats(session: ModelSession, options: PowerOptions) -> int:
    return (session.kind.exact and options.exact_repeats) or options.repeats


def _latency_us(session: ModelSession) -> float:
    latency = session.time_runs(TIMED_RUNS)
    if latency.doubt:
        raise PowerError(latency.doubt, board=session.board.id, hint="its energy is another mode's")
    return latency.median_us


def _handshake(session: ModelSession, meter: Meter, facts: MeterFacts) -> Handshake:
    return Handshake(
        meter,
        facts,
        WindowFinder(facts),
        board=session.board.id,
        pins=session.board.spec.power_pins,
        outcome=lambda: session.power_result().outcome,
    )


def _windows(
    session: ModelSession,
    handshake: Handshake,
    chunks: Iterator[Chunk],
    planned: Plan,
    repeats: int,
) -> tuple[Window, ...]:
    windows = []
    for number in range(repeats):
        session.progress("energy window", number + 1, repeats + 1)
        session.arm_power(planned.inferences, WAIT_S)
        window = handshake.window(chunks, planned.most_s)
        ticks = _checked_run(session, planned).ticks
        check_window(
            window,
            board=session.board.id,
            pins=session.board.spec.power_pins,
            inferences=planned.inferences,
            least_s=planned.least_s,
            latency_us=planned.latency_us,
            board_us=1e6 * ticks / session.identity.tick_hz,
        )
        windows.append(window)
    session.progress("energy window", repeats + 1, repeats + 1)
    check_alike(windows, board=session.board.id)
    return tuple(windows)


def _kept(chunks: Iterator[Chunk], writer: CaptureWriter) -> Iterator[Chunk]:
    for chunk in chunks:
        writer.write(chunk)
        yield chunk


def _checked_run(session: ModelSession, planned: Plan) -> PowerRun:
    run = session.power_result()
    if run.outcome is PowerOutcome.DONE and run.inferences == planned.inferences:
        return run
    text = run.outcome.name.lower().replace("_", " ")
    raise WindowFault(
        f"{run.inferences} of {planned.inferences} inferences ran in the window ({text})",
        board=session.board.id,
        hint=session.board.client.read_log().strip() or None,
    )


def _about(session: ModelSession, mode: Mode, facts: MeterFacts, planned: Plan) -> About:
    return About(
        meter=facts.name,
        source=facts.source,
        max_a=facts.max_a,
        max_v=facts.max_v,
        model_sha256=session.model.sha256,
        model=session.model.name,
        board=session.identity.board,
        mode=mode,
        inferences=planned.inferences,
        latency_us=planned.latency_us,
        least_s=planned.least_s,
    )
