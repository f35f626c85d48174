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
from pytest_autodeploy.virtual.devices.rstgen import Rstgen
from pytest_autodeploy.virtual.devices.stimer import Stimer
from pytest_autodeploy.virtual.devices.uart import Uart

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_autodeploy.catalog.chips import Device
    from pytest_autodeploy.virtual.link import SerialLink
    from pytest_autodeploy.virtual.registers import Context, Peripheral


def make_device(
    device: Device,
    context: Context,
    link: SerialLink,
    *,
    set_burst: Callable[[bool], None],
    pins_changed: Callable[[int], None],
) -> Peripheral:
    """The model of a peripheral on a chip with this serial ``link``.

    ``set_burst`` is told the clock that the program chooses, ``pins_changed`` the levels of the
    outputs. Raises CatalogError for a kind that does not exist.
    """
    match device.kind:
        case "clkgen":
            return Clkgen(set_burst)
        case "mcuctrl":
            return Mcuctrl()
        case "pwrctrl":
            return Pwrctrl()
        case "cachectrl":
            return Cachectrl()
        case "rstgen":
            return Rstgen()
        case "stimer":
            return Stimer(context, device.interrupt)
        case "uart":
            return Uart(device.name, context, device.interrupt, link)
        case "cmsdk_uart":
            return CmsdkUart(device.name, context, device.interrupt, link)
        case "gpio":
            return Gpio(pins_changed)
        case "dwt":
            return Dwt(context.time)
        case "itm":
            return Itm()
        case "storage":
            return Storage(device.name)
    raise CatalogError(f"virtual chips: there is no model of {device.kind!r}")
