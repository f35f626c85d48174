"""From the arguments of the simulated board's program to the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.reserve import with_reserves
from pytest_autodeploy.sim.flash import Memories
from pytest_autodeploy.sim.kernels import Kernels
from pytest_autodeploy.sim.noise import NoiseSource, TimingNoise
from pytest_autodeploy.sim.power import PowerRig
from pytest_autodeploy.sim.stopwatch import Stopwatch
from pytest_autodeploy.sim.validator import SimulatedValidator

if TYPE_CHECKING:
    import argparse

    from pytest_autodeploy.sim.captured import CapturedStderr
    from pytest_autodeploy.sim.faults import Faults


def make_board(
    options: argparse.Namespace, stderr: CapturedStderr, faults: Faults
) -> SimulatedValidator:
    """The board, with the model in its flash if there is one. Raises AutodeployError, OSError."""
    spec = with_reserves(board_spec(options.board), options.reserve)
    noise = TimingNoise(options.timing_noise, options.timing_seed, options.slowdown)
    board = SimulatedValidator(
        spec,
        Kernels(stderr, faults.of_operators),
        Stopwatch(spec.core, noise),
        PowerRig(options.power_fault, NoiseSource(options.power_noise, options.timing_seed)),
        Memories.of(options.model_memory, options.arena_memory),
    )
    if options.model:
        board.flash(options.model, options.arena_kb * 1024)
    return board
