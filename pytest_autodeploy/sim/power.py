"""The simulated board's power run: pins and power states in simulated time.

Simulated time is the meter's: it passes only while a meter takes samples, so a window of a second
costs no second.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum

from pytest_autodeploy.catalog.supply import SUPPLY_V, PowerStates, power_states
from pytest_autodeploy.rpc.messages import PowerOutcome, PowerRun
from pytest_autodeploy.sim.noise import NoiseSource

IN0, IN1 = 1, 2
SETTLE_S = 0.01
HOLD_S = 0.1
EMPTY_WINDOW_S = 0.001

FAULTS = ("cut-in0", "cut-in1", "cut-trigger", "swapped-lines", "no-supply", "restart")
"""What can be wrong between meter and board; ``restart`` happens within the window."""

DOUBTFUL = ("low-supply", "swinging-supply", "busy-idle")
"""What is wrong with a supply or a board that a meter measures all the same."""

LOW_V = 1.2
SWING_S, SWING = 0.001, 0.3
"""How long the supply stays up or down, and the share of it that it is off."""


class State(Enum):
    """Where a power run is, with the levels of In0 and In1."""

    SLEEPING = 0
    WAITING = 0b1_00
    READY = IN0 | IN1
    SETTLING = 0b1_11
    RUNNING = 0b10_00
    ENDING = IN1

    @property
    def pins(self) -> int:
        """Levels of In0 and In1."""
        return self.value & (IN0 | IN1)


@dataclass(frozen=True)
class Stretch:
    """A stretch of simulated time in which nothing changes: seconds, levels, power and supply."""

    seconds: float
    pins: int
    watts: float
    volts: float

    def as_list(self) -> list[float]:
        """Plain data for the control channel."""
        return [self.seconds, self.pins, self.watts, self.volts]


class PowerRig:
    """The board's power run, and the wires between it and the meter, which ``faults`` spoil.

    ``noise`` makes the power of each window another.
    """

    def __init__(self, faults: Collection[str] = (), noise: NoiseSource | None = None) -> None:
        self._faults = frozenset(faults)
        self._noise = noise or NoiseSource()
        self._trigger = False
        self._swing = SWING
        self._longest_s = SWING_S if "swinging-supply" in self._faults else math.inf
        self.restart()

    def restart(self) -> None:
        """Forget all runs: the board has started anew."""
        self._noise.restart()
        self._state = State.SLEEPING
        self._left = math.inf
        self._wait_s = self._window_s = 0.0
        self._count = self._ticks = 0
        self._power = PowerStates(running=0.0)
        self.result = PowerRun(PowerOutcome.NONE, 0, 0)

    def arm(
        self,
        count: int,
        ticks: int,
        *,
        tick_hz: float,
        wait_s: float,
        power: PowerStates | None = None,
    ) -> None:
        """Begin a run of ``count`` inferences that take ``ticks`` together.

        Without ``power`` it is the modelled one of a core whose clock ticks.
        """
        self._count, self._ticks, self._wait_s = count, ticks, wait_s
        power = power or power_states(tick_hz)
        self._power = replace(power, running=power.running * self._noise.factor())
        self._window_s = ticks / tick_hz if count else EMPTY_WINDOW_S
        self._enter(State.WAITING, wait_s)
        self._follow_trigger()

    def trigger(self, high: bool) -> None:
        """The meter sets its output."""
        self._trigger = high and "cut-trigger" not in self._faults
        self._follow_trigger()

    def advance(self, seconds: float) -> list[Stretch]:
        """Let simulated time pass; returns what the meter sees of it."""
        seen: list[Stretch] = []
        while seconds > 0:
            step = min(seconds, self._left, self._longest_s)
            if step > 0:
                seen.append(self._stretch(step))
            seconds -= step
            self._left -= step
            if self._left <= 0:
                self._leave()
        return seen

    def finish(self) -> PowerRun:
        """Let time pass until the run has ended, with the trigger as it is."""
        while self._state is not State.SLEEPING:
            self.advance(self._left)
        return self.result

    def _stretch(self, seconds: float) -> Stretch:
        pins = self._state.pins
        if "swapped-lines" in self._faults:
            pins = (pins & IN0) << 1 | pins >> 1
        pins &= ~(IN0 * ("cut-in0" in self._faults) | IN1 * ("cut-in1" in self._faults))
        if "no-supply" in self._faults:
            return Stretch(seconds, pins, 0.0, 0.0)
        asleep = self._state in (State.SLEEPING, State.WAITING)
        watts = self._power.sleeping if asleep else self._power.running
        if "busy-idle" in self._faults and asleep:
            watts = 2 * self._power.running or watts
        return Stretch(seconds, pins, watts, self._volts())

    def _volts(self) -> float:
        """The supply, which may be low, or swing from stretch to stretch."""
        if "swinging-supply" in self._faults:
            self._swing = -self._swing
            return SUPPLY_V * (1 + self._swing)
        return LOW_V if "low-supply" in self._faults else SUPPLY_V

    def _follow_trigger(self) -> None:
        if self._state is State.WAITING and self._trigger:
            self._enter(State.READY, self._wait_s)
        elif self._state is State.READY and not self._trigger:
            self._enter(State.SETTLING, SETTLE_S)

    def _enter(self, state: State, seconds: float) -> None:
        self._state, self._left = state, seconds

    def _leave(self) -> None:
        """A state is over by itself."""
        match self._state:
            case State.WAITING:
                self._end(PowerRun(PowerOutcome.NO_TRIGGER, 0, 0))
            case State.READY:
                self._end(PowerRun(PowerOutcome.TRIGGER_STUCK, 0, 0))
            case State.SETTLING if "restart" in self._faults:
                self.restart()
            case State.SETTLING:
                self._enter(State.RUNNING, self._window_s)
            case State.RUNNING:
                self._enter(State.ENDING, HOLD_S)
            case _:
                self._end(PowerRun(PowerOutcome.DONE, self._count, self._ticks))

    def _end(self, result: PowerRun) -> None:
        self.result = result
        self._enter(State.SLEEPING, math.inf)
