"""One window of a live board: trigger, the wait for each step, and what a wait in vain means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.power.checks import check_supply, pin
from pytest_autodeploy.power.errors import BoardRestarted, MeterFailed, PowerError, WiringFault
from pytest_autodeploy.power.lines import bits_of, line_names
from pytest_autodeploy.power.meter import BOTH, Chunk
from pytest_autodeploy.power.plan import REST_S, WAIT_S
from pytest_autodeploy.power.window import Phase
from pytest_autodeploy.rpc.messages import PowerOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_autodeploy.power.meter import Meter, MeterFacts
    from pytest_autodeploy.power.window import Window, WindowFinder

SLACK_S = 1.0
"""What the host allows a step beyond what the board does: samples arrive late."""

REST_MOST_S = 1.0


class Handshake:
    """Leads a board that is armed through its window, by the lines alone.

    ``outcome`` asks the board how its power run ended; it is called when a wait was in vain, and
    gives None for a board that cannot be asked.
    """

    def __init__(
        self,
        meter: Meter,
        facts: MeterFacts,
        finder: WindowFinder,
        *,
        board: str,
        pins: Mapping[str, int],
        outcome: Callable[[], PowerOutcome | None],
    ) -> None:
        self._meter = meter
        self._rate_hz = facts.rate_hz
        self._finder = finder
        self._board = board
        self._pins = pins
        self._outcome = outcome

    def window(self, chunks: Iterator[Chunk], run_s: float) -> Window:
        """The window of a board that has just been armed, which lasts ``run_s`` at most.

        Raises WiringFault, BoardRestarted, WindowFault when the supply is off, or MeterFailed.
        """
        self._finder.begin()
        try:
            with show_task(f"measuring the energy of {self._board}"):
                window = self._led(chunks, run_s)
                self._let_rest(chunks)
            return window
        finally:
            self._meter.trigger(False)

    def _led(self, chunks: Iterator[Chunk], run_s: float) -> Window:
        self._pass(chunks, REST_S)
        check_supply(self._finder.idle_volts, board=self._board)
        self._finder.watch()
        # Up, and down again: a line that is stuck shows, whichever way it is stuck.
        self._meter.trigger(True)
        if found := self._await(chunks, Phase.READY, WAIT_S + SLACK_S):
            return found
        self._meter.trigger(False)
        if found := self._await(chunks, Phase.RUNNING, WAIT_S + SLACK_S):
            return found
        found = self._await(chunks, None, run_s + SLACK_S)
        assert found is not None
        return found

    def _let_rest(self, chunks: Iterator[Chunk]) -> None:
        """Wait until the lines are low: the board does not listen before that."""
        left = REST_MOST_S * self._rate_hz
        while self._finder.level and left > 0:
            chunk = self._next(chunks)
            self._finder.feed(chunk)
            left -= len(chunk)

    def _pass(self, chunks: Iterator[Chunk], seconds: float) -> None:
        left = seconds * self._rate_hz
        while left > 0:
            chunk = self._next(chunks)
            self._finder.feed(chunk)
            left -= len(chunk)

    def _await(self, chunks: Iterator[Chunk], phase: Phase | None, seconds: float) -> Window | None:
        """Wait for a phase, or for None until the window is there; that may come sooner."""
        left = seconds * self._rate_hz
        while self._finder.phase is not phase:
            if left <= 0:
                raise self._fault(seconds)
            chunk = self._next(chunks)
            left -= len(chunk)
            if windows := self._finder.feed(chunk):
                return windows[0]
        return None

    def _next(self, chunks: Iterator[Chunk]) -> Chunk:
        chunk = next(chunks, None)
        if chunk is None:
            raise MeterFailed("the stream of samples ended", board=self._board)
        return chunk

    def _fault(self, seconds: float) -> PowerError:
        phase, seen = self._finder.phase, set(self._finder.seen)
        level = self._finder.level
        self._meter.trigger(False)
        outcome = self._outcome()
        if outcome is PowerOutcome.NONE:
            return BoardRestarted(
                f"the board restarted {_WHEN[phase]}",
                board=self._board,
                seconds=seconds,
                hint="Its supply broke down, or a watchdog bit: look at the capture.",
            )
        if phase is Phase.IDLE:
            return self._no_answer(seen, outcome, seconds)
        if phase is Phase.READY:
            return self._no_start(level, outcome, seconds)
        return self._still("In1", "in1", "did not rise at the end of the window", seconds)

    def _no_answer(
        self, seen: set[int], outcome: PowerOutcome | None, seconds: float
    ) -> PowerError:
        if outcome is PowerOutcome.NO_TRIGGER:
            return WiringFault(
                "the board ignores the trigger",
                board=self._board,
                seconds=seconds,
                hint=f"Connect the meter's Out0 with {pin(self._pins, 'trigger')} of the board.",
            )
        dead = line_names(BOTH & ~bits_of(seen))
        if len(dead) == 2 and outcome is None:
            return self._silent(seconds)
        if len(dead) == 2:
            return WiringFault(
                "neither In0 nor In1 moved, though the board saw the trigger",
                board=self._board,
                seconds=seconds,
                hint=f"Connect In0 with {pin(self._pins, 'in0')} and In1 with "
                f"{pin(self._pins, 'in1')}; the meter's reference voltage has to be the board's.",
            )
        if dead:
            return self._still(dead[0], dead[0].lower(), "never moved", seconds)
        return WiringFault(
            "In0 and In1 were never high together", board=self._board, seconds=seconds
        )

    def _silent(self, seconds: float) -> WiringFault:
        """Of a board that cannot be asked, nobody knows which line is to blame."""
        pins = ", ".join(
            f"{line} with {pin(self._pins, name)}"
            for line, name in (("Out0", "trigger"), ("In0", "in0"), ("In1", "in1"))
        )
        return WiringFault(
            "neither In0 nor In1 moved after the trigger",
            board=self._board,
            seconds=seconds,
            hint=f"Connect {pins}; else the model was not set up on the board, or it is not "
            "supplied: it has no link over which it could say so.",
        )

    def _no_start(self, level: int, outcome: PowerOutcome | None, seconds: float) -> PowerError:
        if outcome is PowerOutcome.TRIGGER_STUCK:
            return WiringFault(
                "the trigger does not fall",
                board=self._board,
                seconds=seconds,
                hint=f"Out0 and {pin(self._pins, 'trigger')} are held high by something else.",
            )
        stuck = line_names(level) or ["In0"]
        return self._still(stuck[0], stuck[0].lower(), "stays high", seconds)

    def _still(self, line: str, name: str, text: str, seconds: float) -> WiringFault:
        return WiringFault(
            f"{line} {text}",
            board=self._board,
            seconds=seconds,
            hint=f"Connect the meter's {line} with {pin(self._pins, name)} of the board.",
        )


_WHEN = {
    Phase.IDLE: "before its window",
    Phase.READY: "before its window",
    Phase.RUNNING: "during the window",
}
