"""What every peripheral is: registers behind an address, named as in the data sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pytest_autodeploy.virtual.link import SerialLink
    from pytest_autodeploy.virtual.timebase import Timebase

Unknown = Callable[[str, int], None]
"""Told of a peripheral and of the offset of a register that it does not model."""


class Peripheral:
    """A block of registers; one that is not modelled keeps what is written.

    ``NAMES`` are those that firmware may use without an effect: their names by offset.
    """

    NAMES: ClassVar[Mapping[int, str]] = MappingProxyType({})

    def __init__(self, name: str) -> None:
        self.name = name
        self.names = self.NAMES
        self.values: dict[int, int] = {}
        self.unknown: Unknown = lambda _name, _offset: None

    def reset(self) -> None:
        """As after the start."""
        self.values.clear()

    def read(self, offset: int) -> int:
        """The value of a register."""
        return self._stored(offset)

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        self._store(offset, value)

    def next_event(self) -> int | None:
        """When, in femtoseconds, it will want to be called; None: not by itself."""
        return None

    def pass_time(self, now: int) -> None:
        """What was due by now happens."""

    def _stored(self, offset: int) -> int:
        if offset not in self.names and offset not in self.values:
            self.unknown(self.name, offset)
        return self.values.get(offset, 0)

    def _store(self, offset: int, value: int) -> None:
        if offset not in self.names and offset not in self.values:
            self.unknown(self.name, offset)
        self.values[offset] = value & 0xFFFF_FFFF


class Context:
    """What peripherals share: the time, and the line to the interrupt controller.

    ``raise_interrupt`` sets the level of an interrupt line; ``stop`` ends the present run of
    instructions, so that what was changed takes effect.
    """

    def __init__(
        self,
        time: Timebase,
        raise_interrupt: Callable[[int, bool], None],
        stop: Callable[[], None],
    ) -> None:
        self.time = time
        self.raise_interrupt = raise_interrupt
        self.stop = stop


@dataclass(frozen=True)
class Outside:
    """What peripherals of a machine are connected to.

    ``set_burst`` is told the clock that the program chooses, ``pins_changed`` the levels of the
    outputs, a bit each, ``said`` each line that the program prints for a debugger.
    """

    context: Context
    link: SerialLink
    set_burst: Callable[[bool], None]
    pins_changed: Callable[[int], None]
    said: Callable[[str], None]
