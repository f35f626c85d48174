"""The system control space of a Cortex-M: NVIC, SCB and SysTick, with exceptions by priority."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pytest_autodeploy.virtual.core import Access, Core, Fault
from pytest_autodeploy.virtual.registers import Peripheral
from pytest_autodeploy.virtual.systick import SysTick
from pytest_autodeploy.virtual.timebase import Timebase

RESET, NMI, HARD_FAULT, MEM_MANAGE, BUS_FAULT, USAGE_FAULT, SVC = 1, 2, 3, 4, 5, 6, 11
PENDSV, SYSTICK, FIRST_INTERRUPT = 14, 15, 16
INTERRUPTS = 64

_ISER, _ICER, _ISPR, _ICPR, _IPR = 0x100, 0x180, 0x200, 0x280, 0x400
_ICSR, _VTOR, _AIRCR, _SHPR, _SHCSR = 0xD04, 0xD08, 0xD0C, 0xD18, 0xD24
_CFSR, _HFSR, _MMFAR, _BFAR = 0xD28, 0xD2C, 0xD34, 0xD38
_MPU_FIRST, _MPU_LAST = 0xD90, 0xDB8
_RESET_KEY, _RESET_REQUEST = 0x05FA << 16, 1 << 2
_FORCED = 1 << 30
_ENABLE_BITS = {MEM_MANAGE: 16, BUS_FAULT: 17, USAGE_FAULT: 18}
_LOWEST = 256
_FIXED = {RESET: -3, NMI: -2, HARD_FAULT: -1}


class LockedUp(Exception):
    """A fault within the handler of faults: the core stands still until it is reset."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(
            f"locked up: {fault.access.value} of 0x{fault.address:08X} at 0x{fault.pc:08X}"
        )


class SystemControl(Peripheral):
    """Exceptions that wait, that run, and what decides between them.

    ``restart`` is called when the program asks for a reset, ``protect`` with a register of the MPU.
    """

    NAMES: ClassVar[Mapping[int, str]] = {
        0x004: "ICTR",
        0x008: "ACTLR",
        0xD00: "CPUID",
        _VTOR: "VTOR",
        0xD10: "SCR",
        0xD14: "CCR",
        _SHCSR: "SHCSR",
        0xD30: "DFSR",
        0xD3C: "AFSR",
        0xD88: "CPACR",
        0xDFC: "DEMCR",
        0xDF0: "DHCSR",
        0xF34: "FPCCR",
        0xF38: "FPCAR",
        0xF3C: "FPDSCR",
    }

    def __init__(self, core: Core, time: Timebase, vectors: int) -> None:
        super().__init__("SCS")
        self._core = core
        self._first_vectors = vectors
        self.systick = SysTick(time, self._tick)
        self.restart: Callable[[], None] = lambda: None
        self.protect: Callable[[int, int], None] = lambda _offset, _value: None
        self.protection: Callable[[int], int] = lambda _offset: 0
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.values[_VTOR] = self._first_vectors
        self.values[0xD00] = 0x410F_C241  # a Cortex-M4 r0p1
        self._pending: set[int] = set()
        self._levels: set[int] = set()
        self._enabled = 0
        self._priorities = dict.fromkeys(range(FIRST_INTERRUPT + INTERRUPTS), 0)
        self._running: list[int] = []
        self.systick.reset()

    @property
    def vectors(self) -> int:
        """Address of the table of vectors."""
        return self.values[_VTOR]

    def vector(self, number: int) -> int:
        """The handler of an exception; number 0 is the first stack."""
        return int.from_bytes(self._core.uc.mem_read(self.vectors + 4 * number, 4), "little")

    def set_line(self, interrupt: int, high: bool) -> None:
        """Set the level of an interrupt line; a high one stays pending."""
        number = FIRST_INTERRUPT + interrupt
        if high:
            self._levels.add(number)
            self._pend(number)
        else:
            self._levels.discard(number)

    def _tick(self) -> None:
        self._pend(SYSTICK)

    def _pend(self, number: int) -> None:
        self._pending.add(number)
        self._core.stop()

    def take(self) -> bool:
        """Enter the exception that is due, if any; says whether there was one."""
        number = self._due(masked=False)
        if number is None:
            return False
        self._enter(number)
        return True

    @property
    def wakes(self) -> bool:
        """Whether something ends a sleep: an exception that waits, masked by PRIMASK or not."""
        return self._due(masked=True) is not None

    @property
    def is_due(self) -> bool:
        """Whether there is an exception to enter now."""
        return self._due(masked=False) is not None

    @property
    def waits(self) -> bool:
        """Whether an exception waits for the program to unmask it."""
        return self.wakes and not self.is_due

    def _enter(self, number: int) -> None:
        self._pending.discard(number)
        self._running.append(number)
        self._core.enter(number, self.vector(number))

    def leave(self) -> None:
        """The handler that runs has returned."""
        number = self._running.pop()
        self._core.leave()
        if number in self._levels:
            self._pending.add(number)

    def _due(self, *, masked: bool) -> int | None:
        ready = [number for number in self._pending if self._is_enabled(number)]
        if not ready:
            return None
        best = min(ready, key=lambda number: (self._priority(number), number))
        return best if self._priority(best) < self._level(masked=masked) else None

    def _is_enabled(self, number: int) -> bool:
        return number < FIRST_INTERRUPT or bool(self._enabled >> (number - FIRST_INTERRUPT) & 1)

    def _priority(self, number: int) -> int:
        return _FIXED.get(number, self._priorities.get(number, 0))

    def _level(self, *, masked: bool) -> int:
        level = min((self._priority(number) for number in self._running), default=_LOWEST)
        if self._core.basepri:
            level = min(level, self._core.basepri)
        if not masked and self._core.primask:
            level = min(level, 0)
        return min(level, -1) if self._core.faultmask else level

    def fault(self, fault: Fault) -> None:
        """Enter the handler of a fault. Raises LockedUp within one."""
        if HARD_FAULT in self._running:
            raise LockedUp(fault)
        number = self._record(fault)
        enabled = self.values.get(_SHCSR, 0) >> _ENABLE_BITS[number] & 1
        if not enabled or self._priority(number) >= self._level(masked=False):
            self.values[_HFSR] = self.values.get(_HFSR, 0) | _FORCED
            number = HARD_FAULT
        self._enter(number)

    def _record(self, fault: Fault) -> int:
        """Note a fault in the status registers (Armv7-M ARM, B3.2.15): its exception."""
        status, fetch = self.values.get(_CFSR, 0), fault.access is Access.FETCH
        if fault.access is Access.INSTRUCTION:
            self.values[_CFSR] = status | 1 << 16
            return USAGE_FAULT
        register, shift = (_MMFAR, 0) if fault.protected else (_BFAR, 8)
        bits = 0x01 if fetch else 0x82
        if not fetch:
            self.values[register] = fault.address
        self.values[_CFSR] = status | bits << shift
        return MEM_MANAGE if fault.protected else BUS_FAULT

    def call(self) -> None:
        """The program has executed an SVC."""
        self._enter(SVC)

    def read(self, offset: int) -> int:
        if 0x010 <= offset < 0x020:
            return self.systick.read(offset)
        if _ISER <= offset < _IPR:
            return self._bits(offset)
        if _IPR <= offset < _IPR + INTERRUPTS:
            return self._read_priorities(FIRST_INTERRUPT + offset - _IPR)
        if _SHPR <= offset < _SHPR + 12:
            return self._read_priorities(4 + offset - _SHPR)
        if offset == _ICSR:
            return self._state()
        if _MPU_FIRST <= offset <= _MPU_LAST:
            return self.protection(offset)
        if offset in (_CFSR, _HFSR, _MMFAR, _BFAR, _AIRCR):
            return self.values.get(offset, 0)
        return super().read(offset)

    def write(self, offset: int, value: int) -> None:
        if 0x010 <= offset < 0x020:
            self.systick.write(offset, value)
        elif _ISER <= offset < _IPR:
            self._set_bits(offset, value)
        elif _IPR <= offset < _IPR + INTERRUPTS:
            self._write_priorities(FIRST_INTERRUPT + offset - _IPR, value)
        elif _SHPR <= offset < _SHPR + 12:
            self._write_priorities(4 + offset - _SHPR, value)
        elif offset == _ICSR:
            self._control(value)
        elif offset == _AIRCR:
            self._maybe_restart(value)
        elif offset in (_CFSR, _HFSR):
            self.values[offset] = self.values.get(offset, 0) & ~value
        elif _MPU_FIRST <= offset <= _MPU_LAST:
            self.protect(offset, value)
        else:
            super().write(offset, value)
        self._core.stop()

    def _maybe_restart(self, value: int) -> None:
        if value & 0xFFFF_0000 == _RESET_KEY and value & _RESET_REQUEST:
            self.restart()

    def _bits(self, offset: int) -> int:
        shift = 8 * (offset & 0x7F)
        if offset < _ISPR:
            return self._enabled >> shift & 0xFFFF_FFFF
        pending = sum(
            1 << (number - FIRST_INTERRUPT) for number in self._pending if number >= FIRST_INTERRUPT
        )
        return pending >> shift & 0xFFFF_FFFF

    def _set_bits(self, offset: int, value: int) -> None:
        mask = value << 8 * (offset & 0x7F)
        if offset < _ICER:
            self._enabled |= mask
        elif offset < _ISPR:
            self._enabled &= ~mask
        else:
            numbers = {FIRST_INTERRUPT + bit for bit in range(INTERRUPTS) if mask >> bit & 1}
            if offset < _ICPR:
                self._pending |= numbers
            else:
                self._pending -= numbers - self._levels

    def _read_priorities(self, first: int) -> int:
        return sum(self._priorities.get(first + n, 0) << 8 * n for n in range(4))

    def _write_priorities(self, first: int, value: int) -> None:
        for n in range(4):
            self._priorities[first + n] = value >> 8 * n & 0xFF

    def _state(self) -> int:
        state = self._core.exception
        state |= (SYSTICK in self._pending) << 26 | (PENDSV in self._pending) << 28
        return state | any(number >= FIRST_INTERRUPT for number in self._pending) << 22

    def _control(self, value: int) -> None:
        for bit, number in ((28, PENDSV), (26, SYSTICK), (31, NMI)):
            if value >> bit & 1:
                self._pending.add(number)
        for bit, number in ((27, PENDSV), (25, SYSTICK)):
            if value >> bit & 1:
                self._pending.discard(number)
