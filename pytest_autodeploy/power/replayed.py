"""The energy in a capture: its windows, found and checked as those of a live meter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.power.checks import check_alike, check_supply, check_window, pin
from pytest_autodeploy.power.errors import CaptureError, WiringFault
from pytest_autodeploy.power.lines import bits_of, line_names
from pytest_autodeploy.power.meter import BOTH
from pytest_autodeploy.power.window import Phase, Window, WindowFinder
from pytest_autodeploy.session.energy import Energy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_autodeploy.base.measurement import Source
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.capture import About
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.session.model_session import ModelSession


def replayed(replay: Replay, session: ModelSession, mode: Mode, runs: int | None) -> Energy:
    """The energy of one inference in a capture.

    Without ``runs`` the capture has to say how many inferences its windows have. Raises
    CaptureError when it is of another model, board or clock mode, and what `check_window` raises.
    """
    about, board = replay.about, session.identity.board
    if about is not None:
        _check_same(replay, about, session, mode)
    inferences = runs or (about.inferences if about else 0)
    if not inferences:
        raise CaptureError(
            f"the capture {replay.path} does not say how many inferences its windows have",
            hint="Give measure(runs=N) or --autodeploy-power-runs N.",
        )
    facts = replay.open()
    pins = session.board.spec.power_pins
    windows = windows_of(replay, board=board, pins=pins)
    check_alike(windows, board=board)
    for window in windows:
        check_window(
            window,
            board=board,
            pins=pins,
            inferences=inferences,
            least_s=about.least_s if about else 0.0,
            latency_us=_latency_us(session, mode, about, inferences, facts.source),
        )
    note = ", ".join(filter(None, (facts.name, _cut_text(replay, len(windows)))))
    return Energy(mode, inferences, windows, facts.source, facts.name, note)


def _latency_us(
    session: ModelSession, mode: Mode, about: About | None, inferences: int, source: Source
) -> float | None:
    """What the windows should agree with: the capture's own latency, or that of this very run.

    A capture of another program says none; what was measured on hardware in this test is of the
    same source, anything else is not to be compared.
    """
    if about:
        return about.latency_us if inferences == about.inferences else None
    latency = session.measured.latency
    same = latency is not None and latency.source == source and session.clock == mode
    return latency.median_us if latency is not None and same else None


def _cut_text(replay: Replay, windows: int) -> str:
    """What is said of a capture that was not closed."""
    if not replay.cut_short:
        return ""
    plural = "" if windows == 1 else "s"
    return f"the capture is cut short: {windows} whole window{plural} in what is left of it"


def windows_of(replay: Replay, *, board: str, pins: Mapping[str, int]) -> tuple[Window, ...]:
    """The windows in a capture, one at least. Raises WiringFault."""
    finder = WindowFinder(replay.open())
    windows: list[Window] = []
    with replay.streaming() as chunks:
        for chunk in chunks:
            windows += finder.feed(chunk)
    if windows:
        return tuple(windows)
    check_supply(finder.idle_volts, board=board)
    dead = line_names(BOTH & ~bits_of(finder.seen))
    if dead:
        where = " and ".join(f"{line} ({pin(pins, line.lower())})" for line in dead)
        short = ", and the capture is cut short" if replay.cut_short else ""
        raise WiringFault(f"no window in {replay.path}: {where} never moved{short}", board=board)
    how = {
        Phase.IDLE: "In0 and In1 were never high together",
        Phase.READY: "In0 and In1 never fell",
        Phase.RUNNING: "In1 did not rise at the end",
    }
    short = ", and the capture is cut short" if replay.cut_short else ""
    raise WiringFault(f"no window in {replay.path}: {how[finder.phase]}{short}", board=board)


def _check_same(replay: Replay, about: About, session: ModelSession, mode: Mode) -> None:
    wrong = [
        f"of the {what} {found}, not {wanted}"
        for what, found, wanted in (
            ("model", about.model_sha256, session.model.sha256),
            ("board", about.board, session.identity.board),
            ("clock mode", about.mode, mode),
        )
        if found != wanted
    ]
    if wrong:
        raise CaptureError(f"the capture {replay.path} is {wrong[0]}", board=session.board.id)
