"""A machine: the core, the memories and peripherals of a chip, and the loop that runs them."""

from __future__ import annotations

import time as host_time
from collections.abc import Callable
from typing import Any

from pytest_autodeploy.catalog.chips import Chip
from pytest_autodeploy.virtual.build import make_device
from pytest_autodeploy.virtual.bus import Bus
from pytest_autodeploy.virtual.core import Core, Stop
from pytest_autodeploy.virtual.devices.boot_rom import BootRom
from pytest_autodeploy.virtual.image_file import ImageFile
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.nvic import LockedUp, SystemControl
from pytest_autodeploy.virtual.pacing import Pace
from pytest_autodeploy.virtual.protection import Protection
from pytest_autodeploy.virtual.registers import Context, Peripheral
from pytest_autodeploy.virtual.timebase import FS, Timebase

SLICE = 100_000
"""Instructions between two looks at the line: some milliseconds."""

SHORT_SLICE = 2
"""While an interrupt waits for the program to unmask it, which takes effect at once."""

LONGEST_SLEEP_S = 1.0

SCS_BASE = 0xE000_E000
_ROM_BYTES = 0x1_0000
_ROM_CODE = b"\x00\xbe"  # bkpt: a call of the ROM stops the core


class Exited(Exception):
    """The program has ended itself, by semihosting, with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the program ended with status {status}")
        self.status = status


class Machine:
    """Runs an image on a chip; ``log`` takes what is worth a line.

    ``pins_changed`` is told the levels of all outputs, a bit each.
    """

    def __init__(
        self,
        chip: Chip,
        image: ImageFile,
        link: SerialLink,
        log: Callable[[str], None],
        *,
        slice_instructions: int = SLICE,
    ) -> None:
        instruction_fs = chip.instruction_ns * 10**6 if chip.instruction_ns else None
        self.chip = chip
        self.link = link
        self.time = Timebase(chip.clocks_hz[chip.clock], instruction_fs)
        self.core = Core(self.time)
        self.pins_changed: Callable[[int], None] = lambda _outputs: None
        self._image = image
        self._log = log
        self._slice = slice_instructions
        self._restart = False
        self._pace = Pace(self.time)
        self.control = SystemControl(self.core, self.time, chip.vectors)
        self.control.restart = self._ask_restart
        context = Context(self.time, self.control.set_line, self.core.stop)
        devices = {
            each.base: make_device(
                each,
                context,
                link,
                set_burst=self.set_burst,
                pins_changed=lambda outputs: self.pins_changed(outputs),
            )
            for each in chip.devices
        }
        devices[SCS_BASE] = self.control
        self.bus = Bus(self.core, devices, log)
        self.devices: list[Peripheral] = list(devices.values())
        self._map_memories()
        self._rom = self._make_rom()
        self.protection = Protection(self.core.uc, chip.memories)
        self.control.protect = self.protection.write
        self.control.protection = self.protection.read
        self._reset()

    def device(self, kind: type[Peripheral]) -> Any:
        """The peripheral of a kind, None when the chip has none."""
        return next((each for each in self.devices if isinstance(each, kind)), None)

    def set_burst(self, fast: bool) -> None:
        """The program has chosen the clock of the core."""
        self.time.set_clock(self.chip.clocks_hz["HP" if fast else "LP"])

    def _map_memories(self) -> None:
        import unicorn

        for memory in self.chip.memories:
            self.core.uc.mem_map(memory.base, memory.bytes, unicorn.UC_PROT_ALL)
        for address, data in self._image.pieces:
            self.core.uc.mem_write(address, data)

    def _make_rom(self) -> BootRom | None:
        base = self.chip.boot_rom
        if base is None:
            return None
        import unicorn

        self.core.uc.mem_map(base, _ROM_BYTES, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        self.core.uc.mem_write(base, _ROM_CODE * (_ROM_BYTES // len(_ROM_CODE)))
        return BootRom(self.core, base, self.bus.load, self.bus.store, self._delay)

    def _ask_restart(self) -> None:
        self._restart = True

    def _reset(self) -> None:
        self._restart = False
        for device in self.devices:
            device.reset()
        self.protection.reset()
        self.time.set_clock(self.chip.clocks_hz[self.chip.clock])
        self.core.reset(self.control.vector(0), self.control.vector(1))

    def run(self, until: Callable[[], bool]) -> None:
        """Run until that is so. Raises Exited when the program ends by itself."""
        looked = host_time.monotonic()
        while not until():
            self.step()
            now = host_time.monotonic()
            if now - looked > 0.002:
                self.link.poll()
                looked = now

    def step(self) -> None:
        """Run a slice, and deal with what ended it."""
        self._pass_time()
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
            self._sleep()
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
            return SHORT_SLICE
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

    def _sleep(self) -> None:
        """Time passes here as it does outside, until something wakes the core."""
        while not self.control.wakes:
            event = self._next_event()
            left_s = LONGEST_SLEEP_S if event is None else (event - self.time.fs) / FS
            began = host_time.monotonic()
            self.link.poll(min(max(left_s, 0), LONGEST_SLEEP_S))
            passed_s = host_time.monotonic() - began
            arrived = self.control.wakes
            self.time.sleep(int((passed_s if arrived else min(left_s, LONGEST_SLEEP_S)) * FS))
            if event is not None and not arrived and self.time.fs < event:
                self.time.sleep(event - self.time.fs)
            self._pass_time()
            if event is None and not arrived:
                return  # so that the end of the process is seen

    def _delay(self, cycles: int) -> None:
        """A loop of the boot ROM: its cycles pass; what is ahead of the time outside waits."""
        self.time.execute(cycles)
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
