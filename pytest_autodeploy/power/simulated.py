"""The meter of a simulated or a virtual board: it samples the modelled supply, and the pins.

The board's process says, for each span of simulated time, which stretches of constant power and
levels it has; the samples are made here, from them and from seeded noise. A sample holds the energy
of its time exactly, so the sum over samples is the modelled energy but for the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.power.errors import MeterFailed, MeterUnavailable
from pytest_autodeploy.power.meter import Chunk, MeterFacts

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.board.base import Board, Controllable

RATE_HZ = 500_000.0
CHUNK = 1 << 16
NOISE_SHARE = 0.02
"""Standard deviation of the current's noise as a share of the current."""

TIMEOUT_S = 10.0


class SimulatedMeter:
    """The meter that belongs to such a board; its noise depends on ``seed`` alone."""

    def __init__(self, board: Controllable, seed: int = 0) -> None:
        self._board = board
        self._seed = seed
        self._position = 0

    @classmethod
    def of(cls, board: Board, seed: int) -> SimulatedMeter:
        """That of a board. Raises MeterUnavailable for one that has none in it."""
        from pytest_autodeploy.board.base import Controllable

        if not isinstance(board, Controllable):
            raise MeterUnavailable(
                "no simulated meter: it belongs to boards that this run simulates",
                board=board.id,
                hint="choose --autodeploy-power joulescope, a .jls capture, or off",
            )
        return cls(board, seed)

    def open(self) -> MeterFacts:
        """There is nothing to take: the board has its meter in it."""
        return MeterFacts("simulated meter", "modelled", RATE_HZ, max_a=10.0, max_v=15.0)

    def supply(self, on: bool) -> None:
        """Such a board is always supplied."""

    def trigger(self, high: bool) -> None:
        """Set the trigger of the board."""
        self._order(op="trigger", high=high)

    @contextmanager
    def streaming(self) -> Iterator[Iterator[Chunk]]:
        """Samples for as long as they are taken; simulated time passes only then."""
        self._order(op="stream", on=True)
        try:
            yield self._chunks()
        finally:
            with suppress(BoardError):  # which has been told already
                self._order(op="stream", on=False)

    def close(self) -> None:
        """Nothing to release."""

    def _order(self, **message: Any) -> dict[str, Any]:
        answer = self._board.control(message, TIMEOUT_S)
        if not answer.get("ok"):
            raise MeterFailed(f"{message['op']}: {answer.get('error')}", board=self._board.id)
        return answer

    def _chunks(self) -> Iterator[Chunk]:
        import numpy as np

        random = np.random.default_rng(self._seed)
        while True:
            stretches = self._order(op="advance", seconds=CHUNK / RATE_HZ)["stretches"]
            yield self._samples(stretches, random)

    def _samples(self, stretches: list[list[float]], random: np.random.Generator) -> Chunk:
        import numpy as np

        watts = np.zeros(CHUNK)
        volts = np.zeros(CHUNK, np.float32)
        lines = np.zeros(CHUNK, np.uint8)
        start = 0.0
        for seconds, pins, power, supply in stretches:
            end = min(start + seconds * RATE_HZ, float(CHUNK))
            here = slice(round(start), round(end))
            lines[here], volts[here] = int(pins), supply
            _spread(watts, start, end, power)
            start = end
        noise = 1 + NOISE_SHARE * random.standard_normal(CHUNK, dtype=np.float32)
        current = noise * (watts / np.maximum(volts, 1e-3))
        first, self._position = self._position, self._position + CHUNK
        return Chunk(first, current.astype(np.float32), volts, lines)


def _spread(watts: np.ndarray[Any, Any], start: float, end: float, power: float) -> None:
    """Add a constant power over a span; its first and last samples may be in it only partly."""
    first, last = int(start), int(end)
    if first == last:
        watts[first : first + 1] += power * (end - start)
        return
    watts[first] += power * (first + 1 - start)
    watts[first + 1 : last] += power
    watts[last : last + 1] += power * (end - last)
