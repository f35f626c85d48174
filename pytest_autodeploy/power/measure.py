"""The fixture ``power_meter``: the energy of a model on a board, by the meter of that board."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.power.capture import About, CaptureWriter
from pytest_autodeploy.power.checks import check_alike, check_window
from pytest_autodeploy.power.errors import CaptureError, NoMeter, PowerError, WindowFault
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.plan import WAIT_S, Plan, plan
from pytest_autodeploy.power.replay import Replay
from pytest_autodeploy.power.replayed import replayed
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.rpc.messages import Capability, ClockMode, PowerOutcome
from pytest_autodeploy.session.energy import Energy
from pytest_autodeploy.session.measured import incomplete_words

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.meter import Chunk, Meter, MeterFacts
    from pytest_autodeploy.rpc.messages import PowerRun
    from pytest_autodeploy.session.model_session import ModelSession

TIMED_RUNS = 2
"""Inferences that the plan is made from, after the first."""

MODES: tuple[Mode, ...] = ("HP", "LP")


@dataclass(frozen=True)
class PowerOptions:
    """How energy is measured: the least duration of a window, and how many windows.

    ``runs`` is the count of inferences in a window, None to plan it. ``captures`` gives the file
    that a measurement's raw stream is kept in, None to keep none.
    """

    window_s: float = 1.0
    repeats: int = 3
    runs: int | None = None
    captures: Callable[[ModelSession, Mode], Path] | None = None


class PowerMeter:
    """Measures energy; ``meter_of`` gives the meter of a board, None when it has none.

    ``find_capture`` gives the capture that is replayed in place of a measurement, if any.
    """

    def __init__(
        self,
        options: PowerOptions,
        meter_of: Callable[[Board], Meter | None],
        find_capture: Callable[[ModelSession, Mode], Replay | None] | None = None,
    ) -> None:
        self._options = options
        self._meter_of = meter_of
        self._find_capture = find_capture

    def modes(self, session: ModelSession) -> tuple[Mode, ...]:
        """The clock modes that can be measured, the fastest first.

        They are those of the board, or those with a capture. Raises CaptureError without any.
        """
        hz = session.identity.clocks_hz
        modes: tuple[Mode, ...] = tuple(mode for mode in MODES if hz[_CLOCKS[mode]])
        if self._find_capture is None:
            return modes
        found = tuple(mode for mode in modes if self._find_capture(session, mode))
        if not found:
            raise _no_capture(session)
        return found

    def measure(self, session: ModelSession, mode: Mode = "HP", runs: int | None = None) -> Energy:
        """The energy of one inference in a clock mode, from several windows of ``runs`` inferences.

        Without ``runs`` they are planned from the latency, so that a window lasts as long as
        ``--autodeploy-power-window`` says. Raises PowerError, or a BoardError.
        """
        if mode not in MODES:
            raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
        if runs is not None and runs < 1:
            raise ValueError(f"runs={runs} is not a positive whole number")
        runs = runs or self._options.runs
        if self._find_capture:
            replay = self._find_capture(session, mode)
            if replay is None:
                raise _no_capture(session, mode)
            energy = replayed(replay, session, mode, runs)
        else:
            energy = self._measured(session, mode, runs)
        session.measured.power[mode] = energy
        return energy

    def _measured(self, session: ModelSession, mode: Mode, runs: int | None) -> Energy:
        meter = self._meter_of(session.board)
        if meter is None:
            raise NoMeter(
                "no power meter", board=session.board.id, hint="Give --autodeploy-power METER."
            )
        self._check_board(session, mode)
        facts = meter.open()
        meter.supply(True)
        with session.at_clock(mode), ExitStack() as stack:
            median_us = session.timed(TIMED_RUNS).median_us
            planned = plan(median_us, self._options.window_s, runs)
            kept = ""
            chunks: Iterator[Chunk] = stack.enter_context(meter.streaming())
            if self._options.captures:
                path = self._options.captures(session, mode)
                about = _about(session, mode, facts, planned)
                writer = stack.enter_context(CaptureWriter(path, facts, about))
                chunks, kept = _kept(chunks, writer), str(path)
            windows = self._windows(session, meter, facts, chunks, planned)
        note = incomplete_words(session.incomplete)
        return Energy(mode, planned.inferences, windows, facts.source, facts.name, note, kept)

    def _windows(
        self,
        session: ModelSession,
        meter: Meter,
        facts: MeterFacts,
        chunks: Iterator[Chunk],
        planned: Plan,
    ) -> tuple[Window, ...]:
        pins = session.board.spec.power_pins
        handshake = Handshake(
            meter,
            facts,
            WindowFinder(facts),
            board=session.board.id,
            pins=pins,
            outcome=lambda: session.power_result().outcome,
        )
        windows = []
        for _ in range(self._options.repeats):
            session.arm_power(planned.inferences, WAIT_S)
            window = handshake.window(chunks, planned.most_s)
            ticks = _checked_run(session, planned).ticks
            check_window(
                window,
                board=session.board.id,
                pins=pins,
                inferences=planned.inferences,
                least_s=planned.least_s,
                latency_us=planned.latency_us,
                board_us=1e6 * ticks / session.identity.tick_hz,
            )
            windows.append(window)
        check_alike(windows, board=session.board.id)
        return tuple(windows)

    def _check_board(self, session: ModelSession, mode: Mode) -> None:
        if mode not in self.modes(session):
            raise PowerError(
                f"the board has no {mode} clock",
                board=session.board.id,
                hint=f"its modes are {', '.join(self.modes(session))}",
            )
        if Capability.POWER_WINDOW not in session.identity.capabilities:
            raise PowerError(
                "the board's firmware cannot mark a window for the meter",
                board=session.board.id,
                hint="Its capabilities lack powerWindow.",
            )


_CLOCKS = {"HP": ClockMode.HIGH_PERFORMANCE, "LP": ClockMode.LOW_POWER}


def _no_capture(session: ModelSession, mode: str = "") -> CaptureError:
    at = f" at {mode}" if mode else ""
    return CaptureError(
        f"no capture of {session.model.name}{at}",
        board=session.board.id,
        hint="record one with --autodeploy-save-capture, and name it after the model",
    )


def _kept(chunks: Iterator[Chunk], writer: CaptureWriter) -> Iterator[Chunk]:
    for chunk in chunks:
        writer.write(chunk)
        yield chunk


def _checked_run(session: ModelSession, planned: Plan) -> PowerRun:
    run = session.power_result()
    if run.outcome is PowerOutcome.DONE and run.inferences == planned.inferences:
        return run
    words = run.outcome.name.lower().replace("_", " ")
    raise WindowFault(
        f"{run.inferences} of {planned.inferences} inferences ran in the window ({words})",
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
