"""The peripherals of a virtual Apollo3 Plus, each by what its registers say and do."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pytest_autodeploy.virtual.devices.boot_rom import DELAY, READ_WORD, WRITE_WORD, BootRom
from pytest_autodeploy.virtual.devices.cachectrl import Cachectrl
from pytest_autodeploy.virtual.devices.clkgen import FREQCTRL, Clkgen
from pytest_autodeploy.virtual.devices.cmsdk_uart import CmsdkUart
from pytest_autodeploy.virtual.devices.debug_units import CYCCNT, DWT_CTRL, Dwt, Itm
from pytest_autodeploy.virtual.devices.gpio import Gpio
from pytest_autodeploy.virtual.devices.mcuctrl import CHIPREV, FEATUREENABLE, SKU, Mcuctrl
from pytest_autodeploy.virtual.devices.pwrctrl import DEVPWREN, DEVPWRSTATUS, Pwrctrl
from pytest_autodeploy.virtual.devices.rstgen import PORSTAT, STAT, SWRSTAT, Rstgen
from pytest_autodeploy.virtual.devices.stimer import (
    SCMPR0,
    SNVR,
    STCFG,
    STMINTCLR,
    STMINTEN,
    STMINTSTAT,
    STTMR,
    Stimer,
)
from pytest_autodeploy.virtual.devices.uart import DR, FR, IEC, IER, MIS, Uart
from pytest_autodeploy.virtual.registers import Context
from pytest_autodeploy.virtual.systick import CTRL, LOAD, VAL, SysTick
from pytest_autodeploy.virtual.timebase import FS, Timebase
from tests.helpers.virtual_machine import Wire


@dataclass
class Bench:
    """A time, and the interrupt lines that are high."""

    time: Timebase = field(default_factory=lambda: Timebase(96_000_000))
    high: set[int] = field(default_factory=set)

    @property
    def context(self) -> Context:
        def level(number: int, high: bool) -> None:
            (self.high.add if high else self.high.discard)(number)

        return Context(self.time, level, lambda: None)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_rstgen_tells_power_on_from_a_reset_by_software() -> None:
    rstgen = Rstgen()
    rstgen.reset()
    assert rstgen.read(STAT) == PORSTAT
    rstgen.reset()
    assert rstgen.read(STAT) == SWRSTAT


def test_stimer_keeps_its_words_when_the_chip_is_reset(bench: Bench) -> None:
    stimer = Stimer(bench.context, 23)
    stimer.write(SNVR[2], 0xAD10_0002)
    stimer.write(STMINTEN, 1)
    stimer.reset()
    assert stimer.read(SNVR[2]) == 0xAD10_0002
    assert stimer.read(STMINTEN) == 0


def test_clkgen_acknowledges_burst_mode_and_tells_the_core() -> None:
    told: list[bool] = []
    clkgen = Clkgen(told.append)
    clkgen.reset()
    assert clkgen.read(FREQCTRL) == 0
    clkgen.write(FREQCTRL, 1)
    assert clkgen.read(FREQCTRL) == 0b111
    clkgen.write(FREQCTRL, 0)
    assert clkgen.read(FREQCTRL) == 0
    assert told == [True, False]


def test_mcuctrl_is_a_chip_with_every_feature() -> None:
    mcuctrl = Mcuctrl()
    assert mcuctrl.read(CHIPREV) == 0x11
    assert mcuctrl.read(SKU) == 0x7F
    mcuctrl.write(FEATUREENABLE, 1 << 4)
    assert mcuctrl.read(FEATUREENABLE) >> 4 & 0b111 == 0b111  # asked, acknowledged, available


def test_pwrctrl_has_powered_what_was_asked_for() -> None:
    pwrctrl = Pwrctrl()
    pwrctrl.write(DEVPWREN, 0x80)
    assert pwrctrl.read(DEVPWRSTATUS) == 0x80


def test_the_cache_is_ready() -> None:
    assert Cachectrl().read(0x08) == 1 << 2


def test_stimer_counts_its_clock_while_the_core_sleeps(bench: Bench) -> None:
    stimer = Stimer(bench.context, 23)
    stimer.write(STCFG, 2)  # HFRC / 256: 187.5 kHz
    bench.time.sleep(FS // 10)
    assert stimer.read(STTMR) == 18_750


def test_an_alarm_of_the_stimer_is_counts_from_now_on_and_interrupts(bench: Bench) -> None:
    stimer = Stimer(bench.context, 23)
    stimer.write(STCFG, 2 | 1 << 8)
    bench.time.sleep(FS)
    stimer.write(STMINTEN, 1)
    stimer.write(SCMPR0, 187)
    assert stimer.read(SCMPR0) == 187_500 + 187
    due = stimer.next_event()
    assert due is not None
    stimer.pass_time(due - 1)
    assert not bench.high
    stimer.pass_time(due)
    assert bench.high == {23}
    assert stimer.read(STMINTSTAT) == 1
    stimer.write(STMINTCLR, 1)
    assert not bench.high


def test_the_uart_interrupts_while_bytes_wait(bench: Bench) -> None:
    wire = Wire()
    uart = Uart("UART0", bench.context, 15, wire)
    wire.give(b"ab")
    assert not bench.high  # nobody asked for it
    uart.write(IER, 1 << 4)
    assert bench.high == {15}
    assert uart.read(MIS) == 1 << 4
    uart.write(IEC, 1 << 4)
    assert bench.high == {15}  # the cause is still there
    assert uart.read(FR) & 1 << 4 == 0
    assert bytes([uart.read(DR), uart.read(DR)]) == b"ab"
    assert uart.read(FR) & 1 << 4
    assert not bench.high
    uart.write(DR, ord("c"))
    assert wire.sent == b"c"


def test_the_cmsdk_uart_holds_a_byte_in_each_direction(bench: Bench) -> None:
    wire = Wire()
    uart = CmsdkUart("UART0", bench.context, 0, wire)
    wire.give(b"a")
    assert uart.read(0x04) == 2
    assert not bench.high
    uart.write(0x08, 0b1011)
    assert bench.high == {0}
    assert uart.read(0x00) == ord("a")
    assert uart.read(0x04) == 0
    assert not bench.high


def test_outputs_are_set_cleared_and_read_back() -> None:
    changes: list[int] = []
    gpio = Gpio(changes.append)
    gpio.write(0x98, 1 << 26)
    gpio.write(0x98, 1 << 24)
    gpio.write(0xA4, 1 << 26)
    gpio.write(0x9C, 1 << 3)  # pad 35
    gpio.inputs = 1 << 25
    assert changes == [1 << 26, 5 << 24, 1 << 24, 1 << 24 | 1 << 35]
    assert gpio.read(0x80) == 1 << 24 | 1 << 25
    assert gpio.read(0x90) == 1 << 3


def test_the_cycle_counter_runs_when_it_is_on(bench: Bench) -> None:
    dwt = Dwt(bench.time)
    bench.time.execute(100)
    assert dwt.read(CYCCNT) == 0
    dwt.write(DWT_CTRL, 1)
    bench.time.execute(100)
    bench.time.sleep(FS)  # it stands still meanwhile
    assert dwt.read(CYCCNT) == 100
    dwt.write(DWT_CTRL, 0)
    bench.time.execute(100)
    assert dwt.read(CYCCNT) == 100
    dwt.write(DWT_CTRL, 1)
    dwt.write(CYCCNT, 5)
    bench.time.execute(1)
    assert dwt.read(CYCCNT) == 6


def test_the_itm_takes_every_word_and_tells_lines_of_text() -> None:
    lines: list[str] = []
    itm = Itm(lines.append)
    assert itm.read(0) == 1
    for byte in b"all outputs match\r\nand":
        itm.write(0, byte)
    itm.write(4, ord("x"))  # another port
    assert lines == ["all outputs match"]


def test_systick_reloads_with_its_next_clock_and_ticks_each_period(bench: Bench) -> None:
    ticks: list[int] = []
    clock = FS // bench.time.hz
    systick = SysTick(bench.time, lambda: ticks.append(bench.time.fs // clock))
    systick.write(LOAD, 9)
    systick.write(VAL, 1)
    systick.write(CTRL, 7)
    assert systick.read(VAL) == 0
    bench.time.sleep(clock)
    assert systick.read(VAL) == 9
    bench.time.sleep(8 * clock)
    assert (systick.read(VAL), ticks) == (1, [])
    bench.time.sleep(clock)
    assert (systick.read(VAL), ticks) == (0, [10])
    bench.time.sleep(10 * clock)
    assert systick.read(CTRL) == 7 | 1 << 16
    assert ticks == [10, 20]


class Registers:
    """A core of which only registers are seen."""

    def __init__(self, *values: int) -> None:
        self.values = dict(enumerate(values)) | {14: 0x101}

    def register(self, number: int) -> int:
        return self.values[number]

    def set_register(self, number: int, value: int) -> None:
        self.values[number] = value


@pytest.mark.parametrize(
    ("helper", "done"),
    [(READ_WORD, ["load 7"]), (WRITE_WORD, ["store 7 8"]), (DELAY, ["delay 21"]), (0x10, [])],
)
def test_the_boot_rom_answers_the_calls_that_it_has(helper: int, done: list[str]) -> None:
    told: list[str] = []
    core = Registers(7, 8)
    rom = BootRom(
        core,  # type: ignore[arg-type]
        0x0800_0000,
        lambda address: told.append(f"load {address}") or 99,  # type: ignore[func-returns-value]
        lambda address, value: told.append(f"store {address} {value}"),
        lambda cycles: told.append(f"delay {cycles}"),
    )
    assert rom.call(0x0800_0000 + helper) is bool(done)
    assert told == done
    assert core.values.get(15) == (0x101 if done else None)
