"""Each model of a peripheral, broken in turn, turns the test of it red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_autodeploy.catalog.chips import Chip, chip_names, find_chip
from pytest_autodeploy.virtual.build import make_device
from pytest_autodeploy.virtual.devices.boot_rom import DELAY, BootRom
from pytest_autodeploy.virtual.devices.cachectrl import Cachectrl
from pytest_autodeploy.virtual.devices.clkgen import Clkgen
from pytest_autodeploy.virtual.devices.cmsdk_uart import CmsdkUart
from pytest_autodeploy.virtual.devices.debug_units import Dwt, Itm
from pytest_autodeploy.virtual.devices.gpio import Gpio
from pytest_autodeploy.virtual.devices.mcuctrl import Mcuctrl
from pytest_autodeploy.virtual.devices.pages import Storage
from pytest_autodeploy.virtual.devices.pwrctrl import Pwrctrl
from pytest_autodeploy.virtual.devices.rstgen import Rstgen
from pytest_autodeploy.virtual.devices.stimer import Stimer
from pytest_autodeploy.virtual.devices.uart import Uart
from pytest_autodeploy.virtual.nvic import SystemControl
from pytest_autodeploy.virtual.protection import Protection
from pytest_autodeploy.virtual.registers import Outside, Peripheral
from pytest_autodeploy.virtual.systick import SysTick
from tests.helpers.emulation import needs_compiler
from tests.helpers.virtual_machine import Wire
from tests.virtual import test_core as core
from tests.virtual import test_devices as devices
from tests.virtual.test_devices import Bench

RED = (AssertionError, IndexError)
"""What a test that fails raises."""


def alarm(bench: Bench) -> None:
    """The STIMER's: as a test, without its own name."""
    devices.test_an_alarm_of_the_stimer_is_counts_from_now_on_and_interrupts(bench)


OF_DEVICES: list[tuple[type, str, Callable[..., None]]] = [
    (Clkgen, "read", devices.test_clkgen_acknowledges_burst_mode_and_tells_the_core),
    (Clkgen, "write", devices.test_clkgen_acknowledges_burst_mode_and_tells_the_core),
    (Mcuctrl, "read", devices.test_mcuctrl_is_a_chip_with_every_feature),
    (Mcuctrl, "write", devices.test_mcuctrl_is_a_chip_with_every_feature),
    (Pwrctrl, "read", devices.test_pwrctrl_has_powered_what_was_asked_for),
    (Pwrctrl, "write", devices.test_pwrctrl_has_powered_what_was_asked_for),
    (Cachectrl, "read", devices.test_the_cache_is_ready),
    (Rstgen, "read", devices.test_rstgen_tells_power_on_from_a_reset_by_software),
    (Rstgen, "reset", devices.test_rstgen_tells_power_on_from_a_reset_by_software),
    (Stimer, "read", devices.test_stimer_counts_its_clock_while_the_core_sleeps),
    (Stimer, "write", alarm),
    (Stimer, "pass_time", alarm),
    (Uart, "read", devices.test_the_uart_interrupts_while_bytes_wait),
    (Uart, "write", devices.test_the_uart_interrupts_while_bytes_wait),
    (Uart, "update", devices.test_the_uart_interrupts_while_bytes_wait),
    (CmsdkUart, "read", devices.test_the_cmsdk_uart_holds_a_byte_in_each_direction),
    (CmsdkUart, "write", devices.test_the_cmsdk_uart_holds_a_byte_in_each_direction),
    (CmsdkUart, "update", devices.test_the_cmsdk_uart_holds_a_byte_in_each_direction),
    (Gpio, "read", devices.test_outputs_are_set_cleared_and_read_back),
    (Gpio, "write", devices.test_outputs_are_set_cleared_and_read_back),
    (Dwt, "read", devices.test_the_cycle_counter_runs_when_it_is_on),
    (Dwt, "write", devices.test_the_cycle_counter_runs_when_it_is_on),
    (Itm, "read", devices.test_the_itm_takes_every_word_and_tells_lines_of_text),
    (Itm, "write", devices.test_the_itm_takes_every_word_and_tells_lines_of_text),
    (SysTick, "read", devices.test_systick_reloads_with_its_next_clock_and_ticks_each_period),
    (SysTick, "write", devices.test_systick_reloads_with_its_next_clock_and_ticks_each_period),
    (SysTick, "pass_time", devices.test_systick_reloads_with_its_next_clock_and_ticks_each_period),
]
OF_THE_CORE: list[tuple[type, str, Callable[..., None]]] = [
    (SystemControl, "take", core.test_an_interrupt_keeps_every_register_of_the_program),
    (SystemControl, "leave", core.test_an_interrupt_keeps_every_register_of_the_program),
    (SystemControl, "fault", core.test_a_fault_within_the_handler_of_faults_restarts_the_board),
    (SystemControl, "write", core.test_an_interrupt_keeps_every_register_of_the_program),
    (Protection, "write", core.test_the_protection_unit_guards_null_pointers),
]


def breaks(monkeypatch: pytest.MonkeyPatch, model: type, method: str) -> None:
    """The method does nothing, and gives 0."""

    def nothing(*_arguments: Any) -> int:
        return 0

    monkeypatch.setattr(model, method, nothing)


def named(broken: tuple[type, str, Callable[..., None]]) -> str:
    return f"{broken[0].__name__}.{broken[1]}"


@pytest.mark.parametrize("broken", OF_DEVICES, ids=named)
def test_a_peripheral_that_does_nothing_is_seen(
    broken: tuple[type, str, Callable[..., None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, method, test = broken
    wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
    arguments = {"bench": Bench()} if "bench" in wanted else {}
    test(**arguments)
    breaks(monkeypatch, model, method)
    arguments = {"bench": Bench()} if "bench" in wanted else {}
    with pytest.raises(RED):
        test(**arguments)


def test_every_model_of_a_chip_is_among_them() -> None:
    chips = [find_chip(name) for name in chip_names()]
    made = {type(each) for chip in chips if chip for each in models(chip)}
    assert made - {Storage} == {model for model, *_ in OF_DEVICES} - {SysTick}


def models(chip: Chip) -> list[Peripheral]:
    """The peripherals of a chip, connected to nothing."""
    wire = Wire()
    outside = Outside(Bench().context, wire, print, print, print)
    return [make_device(each, outside) for each in chip.devices]


@needs_compiler
@pytest.mark.parametrize("broken", OF_THE_CORE, ids=named)
def test_a_unit_of_the_core_that_does_nothing_is_seen(
    broken: tuple[type, str, Callable[..., None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("unicorn")
    model, method, test = broken
    breaks(monkeypatch, model, method)
    monkeypatch.setattr("tests.helpers.virtual_machine._LIMIT", 300)
    with pytest.raises(RED):
        test()


def test_a_boot_rom_that_answers_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, BootRom, "call")
    with pytest.raises(RED):
        devices.test_the_boot_rom_answers_the_calls_that_it_has(DELAY, ["delay 21"])
