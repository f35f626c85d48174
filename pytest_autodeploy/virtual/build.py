"""From a row of the table of chips to a peripheral."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.entry import CatalogError
from pytest_autodeploy.virtual.build_ambiq import make_ambiq_device
from pytest_autodeploy.virtual.devices.cmsdk_uart import CmsdkUart
from pytest_autodeploy.virtual.devices.debug_units import Dwt, Itm
from pytest_autodeploy.virtual.devices.pages import Storage

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.chips import Device
    from pytest_autodeploy.virtual.registers import Outside, Peripheral


def make_device(device: Device, outside: Outside) -> Peripheral:
    """The model of a peripheral. Raises CatalogError for a kind that does not exist."""
    match device.kind:
        case "cmsdk_uart":
            return CmsdkUart(device.name, outside.context, device.interrupt, outside.link)
        case "dwt":
            return Dwt(outside.context.time)
        case "itm":
            return Itm(outside.said)
        case "storage":
            return Storage(device.name)
    made = make_ambiq_device(device, outside)
    if made is None:
        raise CatalogError(f"virtual chips: there is no model of {device.kind!r}")
    return made
