"""Measuring a model on a board without RPC: its power application, built and flashed."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.base import Board, Programmable
from pytest_autodeploy.limits.energy import MODES, Mode
from pytest_autodeploy.power.errors import NoMeter, no_mode
from pytest_autodeploy.power.live import PowerOptions
from pytest_autodeploy.power.over_pins import OverPins
from pytest_autodeploy.run.power_images import PowerImages
from pytest_autodeploy.session.over_pins import PinsRun

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.run.runtime import Runtime


class PinsSession:
    """A model on a board without RPC, from what was found out about it on another one.

    Raises CharacterizationError, ModelDoesNotFit.
    """

    def __init__(self, model: Model, board: Board, runtime: Runtime) -> None:
        settings = runtime.settings
        self._board = board
        self._runtime = runtime
        self._images = PowerImages(model, board.spec, settings, runtime.boards.build_cache())
        clock: Mode = "LP" if settings.evb_clock == "LP" else "HP"
        self.run = PinsRun(model, board.id, board.spec, self._images.placement, clock)

    def measure(self, modes: Collection[str]) -> None:
        """Measure those of the clock modes that the board has and that are not measured yet.

        Raises PowerError, BoardError of the probe, or what a build raises.
        """
        able = self._board.spec.clocks_hz
        wanted = [mode for mode in MODES if mode in modes and mode in able]
        if not wanted:
            raise no_mode(self._board.id, modes, able)
        for mode in wanted:
            if mode not in self.run.energies:
                self.run.energies[mode] = self._pins.measure(mode)

    @cached_property
    def _pins(self) -> OverPins:
        settings = self._runtime.settings
        options = PowerOptions(
            window_s=settings.power_window,
            repeats=settings.power_repeats,
            runs=settings.power_runs or None,
        )
        board, meter = _programmable(self._board), _meter(self._board, self._runtime)
        return OverPins(board, meter, options, self._images.build, trial_s=settings.evb_timeout)


def _programmable(board: Board) -> Programmable:
    if not isinstance(board, Programmable):
        raise BoardUnavailable(
            "it cannot be given an image without RPC",
            board=board.id,
            hint="--autodeploy-power-link pins is for EVBs with a probe",
        )
    return board


def _meter(board: Board, runtime: Runtime) -> Meter:
    runtime.boards.meters.power_up(board, {})
    meter = runtime.boards.meters.meter_of(board)
    if meter is None:
        raise NoMeter("no power meter", board=board.id, hint="Give --autodeploy-power joulescope.")
    return meter
