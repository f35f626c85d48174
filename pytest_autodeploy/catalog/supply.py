"""Modelled power of a board: calibrated on one published table, the same on every run.

Ambiq's application note "From TF to EVB" gives, for human activity recognition on Apollo4 Plus,
190.665 uJ in 20.110 ms at 96 MHz and 159.257 uJ in 10.249 ms at 192 MHz: 9.481 mW and 15.539 mW.
(The average power that it prints beside the second pair, 9.346 mW, does not fit that pair.) A line
through both points gives the static share and the share per MHz.

Assumption: the same line holds for the other boards, of which nothing has been published. Modelled
energies compare models and layers on one board; they do not predict a board.
"""

from __future__ import annotations

from dataclasses import dataclass

STATIC_W = 3.423e-3
W_PER_HZ = 6.310e-11

SUPPLY_V = 1.8


@dataclass(frozen=True)
class PowerStates:
    """Power (W) of a board whose core runs at a clock, and of one that sleeps."""

    running: float
    sleeping: float = STATIC_W


def power_states(clock_hz: float) -> PowerStates:
    """The modelled states at a clock."""
    return PowerStates(STATIC_W + W_PER_HZ * clock_hz)
