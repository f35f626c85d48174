"""Energy of a board without a link: its power application is flashed, and led over three pins."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.units import si
from pytest_autodeploy.power.checks import check_alike, check_window
from pytest_autodeploy.power.errors import WindowFault
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.plan import Plan, plan
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.session.energy import Energy

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Programmable
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.live import PowerOptions
    from pytest_autodeploy.power.meter import Meter, MeterFacts

LOG = logging.getLogger(__name__)

TRIALS = (10, 1000, 100_000)
"""Inferences in the window that the others are planned from: more where it is too short."""

TRIAL_SAMPLES = 1000
"""Each edge is known to one of them, so the plan to a few per mille."""

RESERVE = 1.25
"""The first window has the first inference, with cold caches, so it says too much of the others."""

ALIKE = 1.5
"""The same, as a factor: what is further off has another cause."""

UNPROVEN = "over pins: the probe has verified the image, the board itself is asked nothing"

Build = Callable[["Mode", int], Path]
"""The image of a clock mode, with so many inferences in a window."""


class OverPins:
    """Measures the power application of a model on ``board``, which is asked nothing.

    ``build`` makes its images; ``trial_s`` bounds the window that the others are planned from.
    """

    def __init__(
        self,
        board: Programmable,
        meter: Meter,
        options: PowerOptions,
        build: Build,
        *,
        trial_s: float,
    ) -> None:
        self._board = board
        self._meter = meter
        self._options = options
        self._build = build
        self._trial_s = trial_s

    def measure(self, mode: Mode) -> Energy:
        """The energy of one inference in a clock mode.

        A first window tells how long an inference takes; where a window of so many is too short,
        the application is built again for one of the wanted duration. Raises PowerError, a
        BoardError of the probe, or what a build raises.
        """
        facts = self._meter.open()
        self._meter.supply(True)
        trial, count = self._trial(facts, mode)
        planned = self._plan(trial, count)
        LOG.debug("%s at %s: windows of %d inferences", self._board.id, mode, planned.inferences)
        if planned.inferences != count:
            self._program(mode, planned.inferences)
        windows = self._windows(facts, self._options.repeats, planned.most_s)
        for window in windows:
            self._check(window, planned)
        check_alike(windows, board=self._board.id)
        self._compare(windows[0], planned)
        source, name = facts.source, facts.name
        return Energy(mode, planned.inferences, windows, source, name, UNPROVEN)

    def _trial(self, facts: MeterFacts, mode: Mode) -> tuple[Window, int]:
        """A window that is long enough to plan from, and how many inferences it has."""
        runs = self._options.runs
        for count in (runs,) if runs else TRIALS:
            self._program(mode, count)
            window = self._windows(facts, 1, self._trial_s)[0]
            if window.samples >= TRIAL_SAMPLES:
                break
        self._check(window, Plan(count, 0.0, 0.0))
        return window, count

    def _plan(self, trial: Window, count: int) -> Plan:
        latency_us = 1e6 * trial.seconds / count
        window_s, runs = self._options.window_s, self._options.runs
        planned = plan(latency_us, RESERVE * window_s, runs)
        planned = replace(planned, least_s=0.0 if runs else window_s)
        return planned if planned.inferences > count else replace(planned, inferences=count)

    def _program(self, mode: Mode, inferences: int) -> None:
        self._board.program(self._build(mode, inferences))

    def _windows(self, facts: MeterFacts, count: int, most_s: float) -> tuple[Window, ...]:
        handshake = Handshake(
            self._meter,
            facts,
            WindowFinder(facts),
            board=self._board.id,
            pins=self._board.spec.app_pins,
            outcome=lambda: None,
        )
        self._meter.trigger(False)
        with self._meter.streaming() as chunks:
            return tuple(handshake.window(chunks, most_s) for _ in range(count))

    def _check(self, window: Window, planned: Plan) -> None:
        check_window(
            window,
            board=self._board.id,
            pins=self._board.spec.app_pins,
            inferences=planned.inferences,
            least_s=planned.least_s,
            latency_us=None,
        )

    def _compare(self, window: Window, planned: Plan) -> None:
        """Whether inferences take what they took in the window before."""
        us = 1e6 * window.seconds / planned.inferences
        if not planned.latency_us / ALIKE < us < planned.latency_us * ALIKE:
            raise WindowFault(
                f"an inference took {si(us, 'us')} in a window of {planned.inferences}, but "
                f"{si(planned.latency_us, 'us')} in the one before",
                board=self._board.id,
                hint="A glitch on In1 ended a window early, or the flash did not take.",
            )
