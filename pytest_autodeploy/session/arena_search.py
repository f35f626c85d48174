"""The smallest arena in which a model runs: a bisection over sizes that a board can be given."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

LOG = logging.getLogger(__name__)

STEP_BYTES = 16
"""TFLM aligns what it puts into an arena to 16 bytes, so a finer size makes no difference."""

FIRST_JUMP_BYTES = 64
"""How much larger the second size is, when the first was too small; further jumps double."""


@dataclass(frozen=True)
class Bounds:
    """What a search may cost: tries of a size, and seconds after which none is begun."""

    tries: int = 32
    seconds: float = 120.0


@dataclass(frozen=True)
class Least:
    """The smallest size that was seen to run, and the largest that was seen not to (0: none).

    ``exact``: they are one step apart, so nothing smaller runs; False when the bounds ended the
    search before.
    """

    bytes: int
    failed_bytes: int
    tries: int

    @property
    def exact(self) -> bool:
        """Whether no smaller size runs."""
        return self.bytes - self.failed_bytes <= STEP_BYTES


def least_arena(
    runs: Callable[[int], bool],
    guess: int,
    given: int,
    bounds: Bounds = Bounds(),  # it is frozen
    clock: Callable[[], float] = time.monotonic,
) -> Least:
    """The smallest multiple of 16 bytes in which ``runs`` is true, in few tries.

    ``given`` is known to run, and a size above one that runs does, too. From the ``guess`` sizes
    grow, or shrink, by jumps that double until the other answer comes; then the gap is halved.
    """
    # The guess is arena_used_bytes(), which leaves out TFLM's temporary peaks (tflite-micro issues
    # 890, 1104 and 2738): a model need not run in it, so sizes are tried.
    search = _Search(runs, given, bounds, clock() + bounds.seconds, clock)
    first = _up(guess)
    if first < given:
        search.ask(first)
    if search.least == first or first >= given:
        search.shrink()
    else:
        search.grow(first)
    search.halve()
    return Least(search.least, search.failed, search.tries)


def _up(size: int) -> int:
    return max(STEP_BYTES, -(-size // STEP_BYTES) * STEP_BYTES)


@dataclass
class _Search:
    runs: Callable[[int], bool]
    least: int
    bounds: Bounds
    until: float
    clock: Callable[[], float]
    failed: int = 0
    tries: int = 0

    @property
    def over(self) -> bool:
        return self.tries >= self.bounds.tries or self.clock() >= self.until

    def ask(self, size: int) -> bool:
        self.tries += 1
        fits = self.runs(size)
        LOG.debug("an arena of %d bytes %s", size, "runs" if fits else "does not run")
        if fits:
            self.least = size
        else:
            self.failed = size
        return fits

    def shrink(self) -> None:
        """Down from the least by jumps that double, until one fails; the first is one step."""
        jump = STEP_BYTES
        while not self.over and (size := _down(self.least - jump)) > 0:
            if not self.ask(size):
                return
            jump *= 2

    def grow(self, size: int) -> None:
        """Up by jumps that double, until one runs."""
        jump = FIRST_JUMP_BYTES
        while not self.over and (size := size + jump) < self.least:
            if self.ask(size):
                return
            jump *= 2

    def halve(self) -> None:
        while self.least - self.failed > STEP_BYTES and not self.over:
            middle = _down((self.least + self.failed) // 2)
            if middle <= self.failed:
                middle = self.failed + STEP_BYTES
            self.ask(middle)


def _down(size: int) -> int:
    return size // STEP_BYTES * STEP_BYTES
