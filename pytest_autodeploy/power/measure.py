"""The fixture ``power_meter``: the energy of a model on a board, by the meter of that board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.repeats import more_repeats
from pytest_autodeploy.power.errors import CaptureError, NoMeter, PowerError, no_mode
from pytest_autodeploy.power.live import PowerOptions, measured
from pytest_autodeploy.power.recorded import note_of, recorded_energy
from pytest_autodeploy.power.replay import Replay
from pytest_autodeploy.power.replayed import replayed
from pytest_autodeploy.rpc.messages import Capability, ClockMode
from pytest_autodeploy.session.energy import Energy

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.session.model_session import ModelSession

MODES: tuple[Mode, ...] = ("HP", "LP")


class PowerMeter:
    """Measures energy; ``meter_of`` gives the meter of a board, None when it has none.

    ``find_capture`` gives the capture that is replayed in place of a measurement, if any; ``after``
    is called when a meter has measured a board.
    """

    def __init__(
        self,
        options: PowerOptions,
        meter_of: Callable[[Board], Meter | None],
        find_capture: Callable[[ModelSession, Mode], Replay | None] | None = None,
        after: Callable[[Board, Meter], None] = lambda _board, _meter: None,
    ) -> None:
        self._options = options
        self._meter_of = meter_of
        self._find_capture = find_capture
        self._after = after

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

    def choose_modes(self, session: ModelSession) -> tuple[Mode, ...]:
        """Those of `modes` that ``--autodeploy-power-modes`` names. Raises PowerError for none."""
        able = self.modes(session)
        wanted = tuple(mode for mode in able if mode in self._options.modes)
        if not wanted:
            raise no_mode(session.board.id, self._options.modes, able)
        return wanted

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
        if board := session.recording.replayed:
            energy = recorded_energy(board, session, mode, runs)
        elif self._find_capture:
            replay = self._find_capture(session, mode)
            if replay is None:
                raise _no_capture(session, mode)
            energy = replayed(replay, session, mode, runs)
        else:
            energy = self._measure(session, mode, runs, self._options)
        session.measured.power[mode] = energy
        return energy

    def measure_more(
        self, session: ModelSession, mode: Mode, windows: int, *, restarted: bool = False
    ) -> bool:
        """Add windows to what was measured; False for a capture, which has what it has.

        ``restarted``: the board has started anew since. Where the raw stream is kept, a file has
        one measurement, so that all windows are measured anew.
        """
        before = session.measured.power[mode]
        if self._find_capture or session.recording.replayed:
            return False
        anew = self._options.captures is not None and not restarted
        count = len(before.windows) + windows if anew else windows
        options = replace(
            self._options, repeats=count, captures=None if restarted else self._options.captures
        )
        energy = self._measure(session, mode, before.inferences, options)
        if not anew:
            counts = more_repeats(before.counts, len(before.windows), windows, restarted=restarted)
            windows_of_all = (*before.windows, *energy.windows)
            energy = replace(before, windows=windows_of_all, counts=counts)
        session.measured.power[mode] = energy
        return True

    def _measure(
        self, session: ModelSession, mode: Mode, runs: int | None, options: PowerOptions
    ) -> Energy:
        meter = self._meter_of(session.board)
        if meter is None:
            raise NoMeter(
                "no power meter", board=session.board.id, hint="Give --autodeploy-power METER."
            )
        self._check_board(session, mode)
        try:
            with session.recording.aside():
                energy = measured(session, meter, options, mode, runs)
        finally:
            self._after(session.board, meter)
        session.recording.keep(note_of(energy))
        return energy

    def _check_board(self, session: ModelSession, mode: Mode) -> None:
        if mode not in self.modes(session):
            raise no_mode(session.board.id, (mode,), self.modes(session))
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
