"""Energy in a recording: what the meter saw, without its samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.record_file import RecordingError
from pytest_autodeploy.board.recorded.notes import Metered
from pytest_autodeploy.power.window import Ending, Window
from pytest_autodeploy.session.energy import Energy, Waveform

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Replayed
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.session.energy import Window as AnyWindow
    from pytest_autodeploy.session.model_session import ModelSession


@dataclass(frozen=True)
class RecordedWindow:
    """A window, with its waveform in as many bins as a report shows. The units are `Window`'s."""

    start: int
    end: int
    rate_hz: float
    energy_j: float
    charge_c: float
    mean_w: float
    peak_w: float
    mean_v: float
    idle_w: float | None
    missing: int
    clipped: int
    ending: str
    waveform: Waveform


@dataclass(frozen=True)
class RecordedEnergy:
    """A measurement of energy, see `Energy`."""

    windows: tuple[RecordedWindow, ...]
    source: Literal["measured", "modelled"]
    meter: str
    note: str


def note_of(energy: Energy) -> Metered:
    """What a recording keeps of a measurement; the raw stream has a file of its own."""
    import msgspec

    windows = tuple(_plain(window) for window in energy.windows)
    plain = {"source": energy.source, "meter": energy.meter, "note": energy.note}
    return Metered(
        energy.mode, energy.inferences, msgspec.to_builtins(plain | {"windows": windows})
    )


def _plain(window: AnyWindow) -> RecordedWindow:
    assert isinstance(window, Window)
    values = vars(window) | {"ending": window.ending.value, "waveform": window.waveform.shown()}
    return RecordedWindow(**values)


def recorded_energy(board: Replayed, session: ModelSession, mode: Mode, runs: int | None) -> Energy:
    """The energy that was measured at the recording. Raises NotRecorded, RecordingError."""
    import msgspec

    found = board.metered(mode, runs)
    try:
        energy = msgspec.convert(found.energy, RecordedEnergy)
        windows = tuple(map(_window, energy.windows))
    except (msgspec.ValidationError, ValueError) as error:
        raise RecordingError(f"{session.board.id}: its energy cannot be read: {error}") from None
    if not windows or found.inferences < 1:
        raise RecordingError(f"{session.board.id}: its energy at {mode} has no window")
    return Energy(mode, found.inferences, windows, energy.source, energy.meter, energy.note)


def _window(recorded: RecordedWindow) -> Window:
    """A window of a file. Raises ValueError for what none can be."""
    wave = recorded.waveform
    positive = (recorded.rate_hz, wave.bin_s, recorded.end - recorded.start, recorded.mean_w)
    if min(positive) <= 0 or not len(wave.least) == len(wave.mean) == len(wave.most) > 0:
        raise ValueError("a window that lasts no time")
    return Window(**vars(recorded) | {"ending": Ending(recorded.ending)})
