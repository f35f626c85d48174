"""From a row of the table of chips to a peripheral."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.entry import CatalogError
from pytest_autodeploy.virtual.devices.cachectrl import Cachectrl
from pytest_autodeploy.virtual.devices.clkgen import Clkgen
from pytest_autodeploy.virtual.devices.cmsdk_uart import CmsdkUart
from pytest_autodeploy.virtual.devices.debug_units import Dwt, Itm
from pytest_autodeploy.virtual.devices.gpio import Gpio
from pytest_autodeploy.virtual.devices.mcuctrl import Mcuctrl
from pytest_autodeploy.virtual.devices.pages import Storage
from pytest_autodeploy.virtual.devices.pwrctrl import Pwrctrl
from pytest_autodeploy.virtual.devices.stimer import Stimer
from pytest_autodeploy.virtual.devices.uart import Uart

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.chips import Device
    from pytest_autodeploy.virtual.machine import Machine
    from pytest_autodeploy.virtual.registers import Context, Peripheral


def make_device(device: Device, context: Context, machine: Machine) -> Peripheral:
    """The model of a peripheral. Raises CatalogError for a kind that does not exist."""
    match device.kind:
        case "clkgen":
            return Clkgen(machine.set_burst)
        case "mcuctrl":
            return Mcuctrl()
        case "pwrctrl":
            return Pwrctrl()
        case "cachectrl":
            return Cachectrl()
        case "stimer":
            return Stimer(context, device.interrupt)
        case "uart":
            return Uart(device.name, context, device.interrupt, machine.link)
        case "cmsdk_uart":
            return CmsdkUart(device.name, context, device.interrupt, machine.link)
        case "gpio":
            return Gpio(lambda outputs: machine.pins_changed(outputs))
        case "dwt":
            return Dwt(machine.time)
        case "itm":
            return Itm()
        case "storage":
            return Storage(device.name)
    raise CatalogError(f"virtual chips: there is no model of {device.kind!r}")
