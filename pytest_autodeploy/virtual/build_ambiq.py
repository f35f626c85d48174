"""From a row of the table of chips to a peripheral of Ambiq's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.virtual.devices.cachectrl import Cachectrl
from pytest_autodeploy.virtual.devices.clkgen import Clkgen
from pytest_autodeploy.virtual.devices.gpio import Gpio
from pytest_autodeploy.virtual.devices.mcuctrl import Mcuctrl
from pytest_autodeploy.virtual.devices.pwrctrl import Pwrctrl
from pytest_autodeploy.virtual.devices.rstgen import Rstgen
from pytest_autodeploy.virtual.devices.stimer import Stimer
from pytest_autodeploy.virtual.devices.uart import Uart

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.chips import Device
    from pytest_autodeploy.virtual.registers import Outside, Peripheral


def make_ambiq_device(device: Device, outside: Outside) -> Peripheral | None:
    """The model of a peripheral; None for a kind that is not Ambiq's."""
    match device.kind:
        case "clkgen":
            return Clkgen(outside.set_burst)
        case "mcuctrl":
            return Mcuctrl()
        case "pwrctrl":
            return Pwrctrl()
        case "cachectrl":
            return Cachectrl()
        case "rstgen":
            return Rstgen()
        case "stimer":
            return Stimer(outside.context, device.interrupt)
        case "uart":
            return Uart(device.name, outside.context, device.interrupt, outside.link)
        case "gpio":
            return Gpio(outside.pins_changed)
    return None
