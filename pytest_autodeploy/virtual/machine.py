"""A machine: the core, the memories and peripherals of a chip, and the loop that runs them."""

from __future__ import annotations

import time as host_time
from collections.abc import Callable
from typing import Any

from pytest_autodeploy.catalog.chips import Chip
from pytest_autodeploy.virtual.build import make_device
from pytest_autodeploy.virtual.bus import Bus
from pytest_autodeploy.virtual.core import Core, Stop
from pytest_autodeploy.virtual.image_file import ImageFile
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.memory_map import map_memories, map_rom
from pytest_autodeploy.virtual.nvic import LockedUp, SystemControl
from pytest_autodeploy.virtual.pace import Pace
from pytest_autodeploy.virtual.registers import Context, Outside, Peripheral
from pytest_autodeploy.virtual.supply import Supply, Wires
from pytest_autodeploy.virtual.timebase import FS, Timebase

SLICE = 100_000
"""Instructions between two looks at the line: some milliseconds."""

MASKED_SLICE = 1000
"""While an interrupt waits for the program to unmask it: that is seen at once in code of the image,
and after so many instructions in code that was copied."""

LONGEST_SLEEP_S = 1.0

SAID = "the program says: "
"""Before a line that it prints for a debugger."""

SCS_BASE = 0xE000_E000


class Exited(Exception):
    """The program has ended itself, by semihosting, with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the program ended with status {status}")
        self.status = status


class Machine:
    """Runs an image on a chip; ``log`` takes what is worth a line.

    ``wires`` are the pins of its power meter, ``supply`` what that sees.
    """

    def __init__(
        self,
        chip: Chip,
        image: ImageFile,
        link: SerialLink,
        log: Callable[[str], None],
        *,
        wires: Wires | None = None,
        slice_instructions: int = SLICE,
    ) -> None:
        instruction_fs = chip.instruction_ns * 10**6 if chip.instruction_ns else None
        self.chip = chip
        self.link = link
        self.time = Timebase(chip.clocks_hz[chip.clock], instruction_fs)
        self.core = Core(self.time)
        self.supply = Supply(self.time, wires)
        self._log = log
        self._slice = slice_instructions
        self._restart = self._asleep = False
        self._pace = Pace(self.time)
        self.control = SystemControl(self.core, self.time, chip.vectors)
        self.control.restart = self._ask_restart
        context = Context(self.time, self.control.set_line, self.core.stop)
        outside = Outside(
            context,
            link,
            set_burst=self.set_burst,
            pins_changed=self.supply.set_outputs,
            said=lambda line: log(f"{SAID}{line}"),
        )
        devices = {each.base: make_device(each, outside) for each in chip.devices}
        devices[SCS_BASE] = self.control
        self.bus = Bus(self.core, devices, log)
        self.devices: list[Peripheral] = list(devices.values())
        self.protection = map_memories(self.core, chip.memories, image, self._look_at_interrupts)
        self._rom = map_rom(self.core, chip.boot_rom, self.bus, self._delay)
        self.control.protect = self.protection.write
        self.control.protection = self.protection.read
        self._reset()

    def device(self, name: str) -> Any:
        """The peripheral of that name, None when the chip has none."""
        return next((each for each in self.devices if each.name == name), None)

    def set_burst(self, fast: bool) -> None:
        """The program has chosen the clock of the core."""
        self.supply.book()
        self.time.set_clock(self.chip.clocks_hz["HP" if fast else "LP"])

    def _look_at_interrupts(self) -> None:
        """The instruction before may have unmasked one that waits.

        Where it has not, a stop would come again at the same place, for ever.
        """
        if self.control.is_due:
            self.core.stop()

    def _ask_restart(self) -> None:
        self._restart = True

    def set_input(self, pin: int, high: bool) -> None:
        """Set the level that a pin has from outside."""
        gpio = self.device("GPIO")
        gpio.inputs = gpio.inputs & ~(1 << pin) | high << pin

    def _reset(self) -> None:
        self._restart = False
        self._wake()
        for device in self.devices:
            device.reset()
        self.protection.reset()
        self.supply.book()
        self.time.set_clock(self.chip.clocks_hz[self.chip.clock])
        self.core.reset(self.control.vector(0), self.control.vector(1))

    def run(self, until: Callable[[], bool]) -> None:
        """Run until that is so. Raises Exited when the program ends by itself."""
        looked = host_time.monotonic()
        while not until():
            self.step()
            self.supply.serve()
            now = host_time.monotonic()
            if now - looked > 0.002:
                self.link.poll()
                looked = now

    def step(self) -> None:
        """Run a slice, and deal with what ended it; or wait a while, when the core sleeps."""
        self._pass_time()
        if self._asleep and not self._woken():
            return
        self.control.take()
        stop = self.core.run(self._budget())
        if self._restart:
            self._reset()
            return
        try:
            self._handle(stop)
        except LockedUp as error:
            self._log(str(error))
            self._reset()

    def _handle(self, stop: Stop) -> None:
        if stop is Stop.SLEEP:
            self._asleep = True
            self.supply.set_asleep(True)
        elif stop is Stop.RETURN:
            self.control.leave()
        elif stop is Stop.SVC:
            self.control.call()
        elif stop is Stop.BREAKPOINT:
            self._breakpoint()
        elif stop is Stop.FAULT:
            assert self.core.fault is not None
            fault = self.core.fault
            self._log(f"fault: {fault.access.value} of 0x{fault.address:08X} at 0x{fault.pc:08X}")
            self.control.fault(fault)

    def _budget(self) -> int:
        if self.control.waits:
            return MASKED_SLICE
        event = self._next_event()
        if event is None:
            return self._slice
        return min(self._slice, self.time.instructions_until(event))

    def _next_event(self) -> int | None:
        events = [each.next_event() for each in self.devices]
        events.append(self.control.systick.next_event())
        return min((event for event in events if event is not None), default=None)

    def _pass_time(self) -> None:
        now = self.time.now()
        self.control.systick.pass_time(now)
        for device in self.devices:
            device.pass_time(now)

    def _woken(self) -> bool:
        """Wait for something that wakes the core; time passes here as it does outside.

        While a meter waits for samples it passes at once, up to what is due next.
        """
        if not self.control.wakes:
            self._doze()
            self._pass_time()
        if self.control.wakes:
            self._wake()
        return not self._asleep

    def _doze(self) -> None:
        due = [self._next_event(), self.supply.wanted, self.time.fs + round(LONGEST_SLEEP_S * FS)]
        left = max(0, min(time for time in due if time is not None) - self.time.fs)
        if self.supply.wanted is not None:
            self.link.poll()
            self.time.sleep(left)
            return
        began = host_time.monotonic()
        self.link.poll(left / FS)
        passed = round((host_time.monotonic() - began) * FS)
        self.time.sleep(min(passed, left))

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            self.supply.set_asleep(False)

    def _delay(self, cycles: int) -> None:
        """A loop of the boot ROM: its cycles pass; what is ahead of the time outside waits."""
        self.time.execute(cycles)
        if self.supply.wanted is not None:
            self._pace.forgive()
            return
        ahead_s = self._pace.ahead_s()
        if ahead_s > 0.001:
            self.link.poll(ahead_s)

    def _breakpoint(self) -> None:
        pc = self.core.pc
        if self._rom is not None and self._rom.call(pc):
            return
        if bytes(self.core.uc.mem_read(pc, 2)) == b"\xab\xbe":
            self._semihosting()
            return
        self._log(f"breakpoint at 0x{pc:08X}")
        self.core.set_register(15, pc + 2 | 1)

    def _semihosting(self) -> None:
        """Arm semihosting: SYS_EXIT and SYS_EXIT_EXTENDED; others return an error."""
        operation, argument = self.core.register(0), self.core.register(1)
        if operation in (0x18, 0x20):
            status = 0
            if operation == 0x20:
                status = int.from_bytes(self.core.uc.mem_read(argument + 4, 4), "little")
            self.link.poll()
            raise Exited(status)
        self.core.set_register(0, 0xFFFF_FFFF)
        self.core.set_register(15, self.core.pc + 2 | 1)
