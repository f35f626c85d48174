"""From ``--autodeploy-power`` to the meter of a board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.catalog.boards import IO_VOLTAGES
from pytest_autodeploy.power.captures import Captures
from pytest_autodeploy.power.rig import is_shared, rig_meter, serve_rig
from pytest_autodeploy.settings.meter_choice import chosen_for
from pytest_autodeploy.settings.overrides import METER, checked, one_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.settings.settings import Settings

OPTIONS = {"io_voltage": one_of(*IO_VOLTAGES)}
"""What ``power_meter_options`` may set."""


class Meters:
    """The meters of a run, each made when it is first needed; ``close`` releases them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._options: Mapping[str, Any] = {}
        self._joulescopes: dict[str | None, Meter] = {}
        self._simulated: dict[Board, Meter] = {}
        self._captures = Captures(settings)

    def meter_of(self, board: Board) -> Meter | None:
        """The live meter of a board; None when there is none. Raises MeterUnavailable."""
        choice = chosen_for(board.id, self._settings)
        if choice.kind == "joulescope":
            own = rig_meter(board)
            return self._joulescope(choice.what or own, board.spec.io_voltage)
        return self._of_simulated(board) if choice.kind == "sim" else None

    def power_up(self, board: Board, options: Mapping[str, Any]) -> None:
        """Give a board the supply that comes through its meter, before it is flashed.

        Raises MeterUnavailable, MissingExtra, OverrideError for an option that cannot be used.
        """
        self._options = checked(METER, options, OPTIONS)
        choice = chosen_for(board.id, self._settings)
        if choice.kind != "joulescope":
            return
        if serve_rig(board, self._settings, self._joulescope, choice.what):
            return
        meter = self._joulescope(choice.what, board.spec.io_voltage)
        meter.open()
        meter.supply(True)

    def power_meter(self, options: Mapping[str, Any] | None) -> PowerMeter:
        """What the fixture gives; with None the options are those of the board's fixture.

        Raises OverrideError for an option that cannot be used.
        """
        from pytest_autodeploy.power.live import PowerOptions
        from pytest_autodeploy.power.measure import PowerMeter

        if options is not None:
            self._options = checked(METER, options, OPTIONS)
        settings, captures = self._settings, self._captures
        return PowerMeter(
            PowerOptions(
                window_s=settings.power_window,
                repeats=settings.power_repeats,
                exact_repeats=None if "power_repeats" in settings.sources else 1,
                runs=settings.power_runs or None,
                modes=settings.energy_modes,
                captures=captures.path if settings.save_capture else None,
            ),
            self.meter_of,
            captures.find if captures.replayed else None,
            after=self._let_go,
        )

    def close(self) -> None:
        """Release meters and captures."""
        for meter in (*self._joulescopes.values(), *self._simulated.values()):
            meter.close()
        self._simulated.clear()
        self._captures.close()
        self._joulescopes.clear()

    def _let_go(self, board: Board, meter: Meter) -> None:
        """After a measurement a meter that serves several boards is for the others."""
        if is_shared(rig_meter(board), self._settings):
            meter.close()

    def _joulescope(self, serial: str | None, io_voltage: float) -> Meter:
        from pytest_autodeploy.power.joulescope import Joulescope

        if serial not in self._joulescopes:
            volts = self._options.get("io_voltage", io_voltage)
            wait_s = self._settings.evb_wait
            self._joulescopes[serial] = Joulescope(serial, io_voltage=volts, wait_s=wait_s)
        return self._joulescopes[serial]

    def _of_simulated(self, board: Board) -> Meter:
        from pytest_autodeploy.power.simulated import SimulatedMeter

        if board not in self._simulated:
            self._simulated[board] = SimulatedMeter.of(board, self._settings.seed)
        return self._simulated[board]
