"""Which of the three lines between a meter and a board work, by a power run without inferences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.power.checks import pin
from pytest_autodeploy.power.errors import MeterFailed, PowerError
from pytest_autodeploy.power.lines import bits_of
from pytest_autodeploy.power.meter import IN0, IN1
from pytest_autodeploy.power.plan import REST_S
from pytest_autodeploy.power.window import Ending, Window, WindowFinder
from pytest_autodeploy.rpc.messages import Capability, PowerOutcome

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.power.meter import Chunk, Meter
    from pytest_autodeploy.rpc.client import ValidatorClient

WAIT_S = 1.0
LED_S = 0.5
"""The run itself takes a little more than 0.1 s."""

WORKS, UNKNOWN = "works", "not known: the board did not see the trigger"


@dataclass(frozen=True)
class Wiring:
    """What was found of each line, in words; `WORKS` when it works.

    ``doubt`` is what sources say of these pins that does not fit.
    """

    board: str
    pins: Mapping[str, int]
    trigger: str
    in0: str
    in1: str
    doubt: str = ""

    @property
    def works(self) -> bool:
        """Whether all three lines work."""
        return {self.trigger, self.in0, self.in1} == {WORKS}

    def lines(self) -> Iterator[str]:
        """One line of text for each line of the wiring, and what to know of its pins."""
        for name, line, text in (
            ("trigger", "Out0 to", self.trigger),
            ("in0", "In0 from", self.in0),
            ("in1", "In1 from", self.in1),
        ):
            yield f"{self.board}: {line} {pin(self.pins, name)}: {text}"
        if self.doubt:
            yield f"{self.board}: note: {self.doubt}"


def probe(board: Board, client: ValidatorClient, meter: Meter) -> Wiring:
    """Let the board and the meter talk over their lines; no model runs.

    Raises PowerError when the firmware cannot do that, MeterFailed, or a BoardError.
    """
    if Capability.POWER_WINDOW not in client.identify().capabilities:
        raise PowerError(
            "the board's firmware has no power run",
            board=board.id,
            hint="use the firmware of this version: flash the board again",
        )
    finder = WindowFinder(meter.open())
    rate_hz = meter.open().rate_hz
    endings = []
    with meter.streaming() as chunks:
        client.arm_power(0, round(1e3 * WAIT_S))
        for high, seconds in ((False, REST_S), (True, WAIT_S / 2), (False, LED_S)):
            meter.trigger(high)
            endings += [w.ending for w in _feed(finder, chunks, seconds * rate_hz)]
    outcome = client.power_result().outcome
    found = _found(outcome, finder.seen, endings)
    doubt = board.spec.disagreements.get("power", "")
    return Wiring(board.id, board.spec.power_pins, *found, doubt)


def _feed(finder: WindowFinder, chunks: Iterator[Chunk], samples: float) -> Iterator[Window]:
    while samples > 0:
        chunk = next(chunks, None)
        if chunk is None:
            raise MeterFailed("the stream of samples ended")
        samples -= len(chunk)
        yield from finder.feed(chunk)


def _found(outcome: PowerOutcome, seen: set[int], endings: list[Ending]) -> tuple[str, str, str]:
    if outcome is PowerOutcome.NO_TRIGGER:
        return "the board does not see it", UNKNOWN, UNKNOWN
    trigger = {
        PowerOutcome.DONE: WORKS,
        PowerOutcome.TRIGGER_STUCK: "stays high at the board",
    }.get(outcome, "the board restarted")
    if Ending.IN0 in endings:
        return trigger, "swapped with In1", "swapped with In0"
    return trigger, _moved(IN0, seen), _moved(IN1, seen)


def _moved(bit: int, seen: set[int]) -> str:
    if not bits_of(seen) & bit:
        return "never moved"
    return WORKS if any(not level & bit for level in seen) else "stays high"
