"""The core: runs instructions on unicorn, says why it stopped, enters and leaves exceptions."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pytest_autodeploy.virtual.access import BadAccesses, tell_code_from_data
from pytest_autodeploy.virtual.breakpoints import Breakpoints
from pytest_autodeploy.virtual.counter import Blocks, InstructionCounter, fast_counter
from pytest_autodeploy.virtual.outside import Outside
from pytest_autodeploy.virtual.timebase import Timebase

NOWHERE = 0xFFFF_FFFE
"""Where no program gets: unicorn wants an address to stop at."""

LEAST = 2
"""Of one instruction unicorn does not keep count."""

_SVC, _BREAKPOINT, _RETURN = (
    2,
    7,
    8,
)  # numbers of QEMU's exceptions: EXCP_SWI, _BKPT, _EXCEPTION_EXIT
_WFI, _WFE = 0xBF30, 0xBF20
_THUMB = 1 << 24
_PADDED = 1 << 9
_RETURN_TO_HANDLER, _RETURN_TO_THREAD = 0xFFFF_FFF1, 0xFFFF_FFF9
_FLOATS = 32
"""Registers s0 to s31, kept beside the frame: the frames here are those without them."""


class Stop(Enum):
    """Why the core stopped."""

    BUDGET = "budget"
    ASKED = "asked"
    SLEEP = "sleep"
    RETURN = "return from an exception"
    SVC = "svc"
    BREAKPOINT = "bkpt"
    FAULT = "fault"


class Counting(Enum):
    """How instructions are counted: the more, the slower."""

    NONE = "time passes as outside"
    FAST = "all but those that an IT block skips"
    EXACT = "every one"


class Access(Enum):
    """What a fault was about."""

    READ = "read"
    WRITE = "write"
    FETCH = "fetch"
    INSTRUCTION = "instruction"


@dataclass(frozen=True)
class Fault:
    """An access that failed; ``protected`` when the address exists and this is not allowed."""

    access: Access
    address: int
    pc: int
    protected: bool


class Core:
    """A Cortex-M4 with the main stack alone; ``time`` is told of every instruction."""

    def __init__(self, time: Timebase) -> None:
        import unicorn
        from unicorn import arm_const as arm

        mode = unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        self._uc: Any = unicorn.Uc(unicorn.UC_ARCH_ARM, mode)
        tell_code_from_data(self._uc)
        self.error: type[Exception] = unicorn.UcError
        self._arm = arm
        self._time = time
        self._booked = 0
        self._running = False
        self._asked = self._halted = False
        self._interrupt: int | None = None
        self._kept: list[tuple[Any, ...]] = []
        self._kinds = _fault_kinds(unicorn)
        self.fault: Fault | None = None
        self._uc.hook_add(unicorn.UC_HOOK_INTR, self._on_interrupt)
        self.bad_accesses = BadAccesses(self._uc)
        self._fast = fast_counter(self._uc)
        self._counting = Counting.FAST
        self._counter = self._make_counter()
        self._frame = [getattr(arm, f"UC_ARM_REG_R{number}") for number in (0, 1, 2, 3, 12)]
        self._frame += [arm.UC_ARM_REG_LR]
        self._floats = [getattr(arm, f"UC_ARM_REG_S{number}") for number in range(_FLOATS)]
        self._floats.append(arm.UC_ARM_REG_FPSCR)
        self.breakpoints = Breakpoints(self._uc, lambda: self.pc, self.halt)
        time.catch_up = self.book

    @property
    def uc(self) -> Any:
        """The CPU of unicorn, for memories and hooks."""
        return self._uc

    @property
    def pc(self) -> int:
        """Address of the instruction that runs, or comes next."""
        return int(self._uc.reg_read(self._arm.UC_ARM_REG_PC))

    @property
    def status(self) -> int:
        """The status word: flags, exception and the state of IT blocks."""
        return int(self._uc.reg_read(self._arm.UC_ARM_REG_XPSR)) | _THUMB

    @property
    def exception(self) -> int:
        """Number of the exception whose handler runs, 0 in the program."""
        return int(self._uc.reg_read(self._arm.UC_ARM_REG_IPSR))

    @property
    def primask(self) -> bool:
        """Whether interrupts are masked."""
        return bool(self._uc.reg_read(self._arm.UC_ARM_REG_PRIMASK) & 1)

    @property
    def basepri(self) -> int:
        """Priority from which on interrupts are masked, 0 when none is."""
        return int(self._uc.reg_read(self._arm.UC_ARM_REG_BASEPRI))

    @property
    def faultmask(self) -> bool:
        """Whether faults are masked, too."""
        return bool(self._uc.reg_read(self._arm.UC_ARM_REG_FAULTMASK) & 1)

    def count(self, counting: Counting) -> None:
        """Choose how instructions are counted; between two runs."""
        if counting is self._counting:
            return
        self._counting = counting
        self._counter.close()
        self._counter = self._make_counter()
        self._uc.ctl_flush_tb()  # what was translated has the other's hooks

    def _make_counter(self) -> InstructionCounter:
        if self._counting is Counting.NONE:
            return Outside(self._uc, self._time)
        fast = self._fast if self._counting is Counting.FAST else None
        return fast or Blocks(self._uc)

    def may_access(self) -> bool:
        """Whether the access to a peripheral that has begun is done; else it comes again."""
        return not self._running or self._counter.may_access()

    def register(self, number: int) -> int:
        """r0 to r15."""
        return int(self._uc.reg_read(_general(self._arm, number)))

    def set_register(self, number: int, value: int) -> None:
        """Change one of r0 to r15."""
        self._uc.reg_write(_general(self._arm, number), value & 0xFFFF_FFFF)

    def reset(self, stack: int, entry: int) -> None:
        """Start at an entry with a stack."""
        arm = self._arm
        for register in (arm.UC_ARM_REG_IPSR, arm.UC_ARM_REG_PRIMASK, arm.UC_ARM_REG_BASEPRI):
            self._uc.reg_write(register, 0)
        for register in (arm.UC_ARM_REG_FAULTMASK, arm.UC_ARM_REG_CONTROL):
            self._uc.reg_write(register, 0)
        self._kept.clear()
        self._uc.reg_write(arm.UC_ARM_REG_LR, 0xFFFF_FFFF)
        self._uc.reg_write(arm.UC_ARM_REG_SP, stack)
        self._jump(entry)

    def stop(self) -> None:
        """Stop behind the instruction that runs now."""
        if self._running:
            self._asked = True
            self._counter.end()

    def book(self) -> None:
        """Tell the time what has run so far."""
        if self._running:
            executed = self._counter.executed()
            self._time.execute(executed - self._booked)
            self._booked = executed

    def halt(self) -> None:
        """Stop before the instruction that a hook of code is called for."""
        self._halted = self._asked = True
        self._uc.emu_stop()

    def run(self, budget: int) -> Stop:
        """Run at most so many instructions."""
        budget = max(budget, LEAST)
        self._asked, self._interrupt, self.bad_accesses.last = False, None, None
        self.fault = None
        count = self._counter.begin(budget)
        self._booked, self._running = 0, True
        failed = None
        try:
            self._uc.emu_start(self.pc | 1, NOWHERE, count=count)
        except self.error as error:
            failed = error
        executed = self._counter.total()
        self._running = False
        self._time.execute(executed - self._booked)
        if self._halted:
            self._halted = False
            self.breakpoints.report()
            return Stop.ASKED
        return self._why(failed, not self._counter.spent)

    def _why(self, failed: Any, early: bool) -> Stop:
        if self._interrupt is not None:
            return self._interrupted(self._interrupt)
        if failed is not None:
            self.fault = self._describe(failed)
            return Stop.FAULT
        if self._asked:
            return Stop.ASKED
        return Stop.SLEEP if early or self._behind_sleep() else Stop.BUDGET

    def _behind_sleep(self) -> bool:
        before = int.from_bytes(self._uc.mem_read(self.pc - 2, 2), "little")
        return before in (_WFI, _WFE)

    def _interrupted(self, number: int) -> Stop:
        if number == _RETURN:
            return Stop.RETURN
        if number == _SVC:
            return Stop.SVC
        if number == _BREAKPOINT:
            return Stop.BREAKPOINT
        self.fault = Fault(Access.INSTRUCTION, self.pc, self.pc, protected=False)
        return Stop.FAULT

    def _describe(self, error: Any) -> Fault:
        access, protected = self._kinds.get(error.errno, (Access.INSTRUCTION, False))
        bad = self.bad_accesses.last
        address = bad[1] if bad else self.pc
        return Fault(access, address, self.pc, protected)

    def _on_interrupt(self, uc: Any, number: int, _data: object) -> None:
        self._interrupt = number
        uc.emu_stop()

    def enter(self, number: int, handler: int) -> None:
        """Enter the handler of an exception (Armv7-M ARM, B1.5.6).

        The floating-point registers are kept beside the frame, not in it.
        """
        uc, arm = self._uc, self._arm
        stack = uc.reg_read(arm.UC_ARM_REG_SP)
        padding = _PADDED if stack & 4 else 0
        stack = (stack - 32) & ~7
        status = uc.reg_read(arm.UC_ARM_REG_XPSR) & ~_PADDED | padding | _THUMB
        words = [uc.reg_read(register) for register in self._frame] + [self.pc, status]
        uc.mem_write(stack, struct.pack("<8I", *words))
        self._kept.append(tuple(uc.reg_read(register) for register in self._floats))
        inside = self.exception != 0
        uc.reg_write(arm.UC_ARM_REG_SP, stack)
        uc.reg_write(arm.UC_ARM_REG_LR, _RETURN_TO_HANDLER if inside else _RETURN_TO_THREAD)
        uc.reg_write(arm.UC_ARM_REG_IPSR, number)
        self._jump(handler)

    def leave(self) -> None:
        """Return from the exception whose handler has just ended."""
        uc, arm = self._uc, self._arm
        stack = uc.reg_read(arm.UC_ARM_REG_SP)
        *words, pc, status = struct.unpack("<8I", uc.mem_read(stack, 32))
        for register, value in zip(self._frame, words, strict=True):
            uc.reg_write(register, value)
        for register, value in zip(self._floats, self._kept.pop(), strict=True):
            uc.reg_write(register, value)
        uc.reg_write(arm.UC_ARM_REG_FAULTMASK, 0)
        uc.reg_write(arm.UC_ARM_REG_XPSR, status & ~_PADDED)
        uc.reg_write(arm.UC_ARM_REG_IPSR, status & 0x1FF)
        uc.reg_write(arm.UC_ARM_REG_SP, stack + 32 + (4 if status & _PADDED else 0))
        self._jump(pc)

    def _jump(self, address: int) -> None:
        self._uc.reg_write(self._arm.UC_ARM_REG_PC, address | 1)


def _general(arm: Any, number: int) -> int:
    names = {13: "SP", 14: "LR", 15: "PC"}
    return int(getattr(arm, f"UC_ARM_REG_{names.get(number, f'R{number}')}"))


def _fault_kinds(unicorn: Any) -> dict[int, tuple[Access, bool]]:
    """Unicorn's errors of accesses."""
    return {
        unicorn.UC_ERR_READ_UNMAPPED: (Access.READ, False),
        unicorn.UC_ERR_WRITE_UNMAPPED: (Access.WRITE, False),
        unicorn.UC_ERR_FETCH_UNMAPPED: (Access.FETCH, False),
        unicorn.UC_ERR_READ_PROT: (Access.READ, True),
        unicorn.UC_ERR_WRITE_PROT: (Access.WRITE, True),
        unicorn.UC_ERR_FETCH_PROT: (Access.FETCH, True),
    }
