"""The time of a machine: cycles of its core, and seconds at the clock that it has at the moment."""

from __future__ import annotations

from collections.abc import Callable

FS = 10**15
"""Femtoseconds of a second: whole numbers, so that every run takes the same time."""


class Timebase:
    """Counts instructions, one cycle each, and the time that passes while the core sleeps.

    An instruction takes a period of the clock, or ``instruction_fs`` where that is given.
    ``catch_up`` books what the core has executed since the last call.
    """

    def __init__(self, hz: int, instruction_fs: int | None = None) -> None:
        self._fixed_fs = instruction_fs
        self.cycles = 0
        self.fs = 0
        self.catch_up: Callable[[], None] = lambda: None
        self.set_clock(hz)

    def set_clock(self, hz: int) -> None:
        """From now on the core has this clock."""
        self.catch_up()
        self.hz = hz
        self.instruction_fs = self._fixed_fs or FS // hz

    def execute(self, instructions: int) -> None:
        """Book instructions."""
        self.cycles += instructions
        self.fs += instructions * self.instruction_fs

    def sleep(self, fs: int) -> None:
        """Let time pass while the core stands still."""
        self.fs += fs

    def now(self) -> int:
        """The present time in femtoseconds."""
        self.catch_up()
        return self.fs

    def instructions_until(self, fs: int) -> int:
        """How many instructions may run before a time that is not over."""
        return max(0, -(-(fs - self.fs) // self.instruction_fs))
