"""From ``--autodeploy-power`` to the meter of a board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.catalog.boards import IO_VOLTAGES
from pytest_autodeploy.power.errors import MeterUnavailable
from pytest_autodeploy.settings.meter_choice import chosen_for
from pytest_autodeploy.settings.meter_syntax import parse_choice
from pytest_autodeploy.settings.overrides import METER, checked, one_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings

OPTIONS = {"io_voltage": one_of(*IO_VOLTAGES)}
"""What ``power_meter_options`` may set."""

CAPTURES = "captures"
"""The folder below the results for what ``--autodeploy-save-capture`` keeps."""


class Meters:
    """The meters of a run, each made when it is first needed; ``close`` releases them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._options: Mapping[str, Any] = {}
        self._joulescope: Meter | None = None
        self._simulated: dict[Board, Meter] = {}
        self._replays: dict[Path, Replay] = {}

    def meter_of(self, board: Board) -> Meter | None:
        """The live meter of a board; None when there is none. Raises MeterUnavailable."""
        choice = chosen_for(board.id, self._settings)
        if choice.kind == "joulescope":
            return self._the_joulescope(choice.what, board)
        return self._of_simulated(board) if choice.kind == "sim" else None

    def power_up(self, board: Board, options: Mapping[str, Any]) -> None:
        """Give a board the supply that comes through its meter, before it is flashed.

        Raises MeterUnavailable, MissingExtra, OverrideError for an option that cannot be used.
        """
        self._options = checked(METER, options, OPTIONS)
        if chosen_for(board.id, self._settings).kind == "joulescope":
            meter = self.meter_of(board)
            assert meter is not None
            meter.open()
            meter.supply(True)

    def power_meter(self, options: Mapping[str, Any] | None) -> PowerMeter:
        """What the fixture gives; with None the options are those of the board's fixture.

        Raises OverrideError for an option that cannot be used.
        """
        from pytest_autodeploy.power.measure import PowerMeter, PowerOptions

        if options is not None:
            self._options = checked(METER, options, OPTIONS)
        settings = self._settings
        replays = settings.power is not None and parse_choice(settings.power).kind == "replay"
        return PowerMeter(
            PowerOptions(
                window_s=settings.power_window,
                repeats=settings.power_repeats,
                runs=settings.power_runs or None,
                captures=self._capture_path if settings.save_capture else None,
            ),
            self.meter_of,
            self._find_capture if replays else None,
        )

    def close(self) -> None:
        """Release meters and captures."""
        for meter in (self._joulescope, *self._simulated.values(), *self._replays.values()):
            if meter is not None:
                meter.close()
        self._simulated.clear()
        self._replays.clear()
        self._joulescope = None

    def _the_joulescope(self, serial: str | None, board: Board) -> Meter:
        from pytest_autodeploy.power.joulescope import Joulescope

        if self._joulescope is None:
            volts = self._options.get("io_voltage", board.spec.io_voltage)
            self._joulescope = Joulescope(serial, io_voltage=volts)
        return self._joulescope

    def _of_simulated(self, board: Board) -> Meter:
        from pytest_autodeploy.board.base import Controllable
        from pytest_autodeploy.power.simulated import SimulatedMeter

        if not isinstance(board, Controllable):
            raise MeterUnavailable(
                "no simulated meter: it belongs to simulated boards that this run starts",
                board=board.id,
                hint="choose --autodeploy-power joulescope, a .jls capture, or off",
            )
        if board not in self._simulated:
            self._simulated[board] = SimulatedMeter(board, self._settings.seed)
        return self._simulated[board]

    def _capture_path(self, session: ModelSession, mode: Mode) -> Path:
        from pytest_autodeploy.base.naming import file_name

        model, board = file_name(session.model.name), file_name(session.board.id)
        name = f"{model}-{session.model.sha256[:8]}-{board}-{mode}.jls"
        return self._settings.output_path / CAPTURES / name

    def _find_capture(self, session: ModelSession, mode: Mode) -> Replay | None:
        """The capture of a clock mode; in a folder, the one of this model and board."""
        from pytest_autodeploy.power.replay import Replay

        path = self._settings.root / str(parse_choice(str(self._settings.power)).what)
        for file in sorted(path.rglob("*.jls")) if path.is_dir() else [path]:
            if file not in self._replays:
                self._replays[file] = Replay(file)
            replay = self._replays[file]
            if _is_of(replay, session, mode, strictly=path.is_dir()):
                return replay
        return None


def _is_of(replay: Replay, session: ModelSession, mode: Mode, *, strictly: bool) -> bool:
    about = replay.about
    if about is None:
        return not strictly and mode == session.clock
    same = (about.model_sha256, about.board) == (session.model.sha256, session.identity.board)
    return about.mode == mode and (same or not strictly)
