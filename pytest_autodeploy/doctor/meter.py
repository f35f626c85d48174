"""The power meter: which Joulescopes there are, and whether another program holds them.

The driver is native code that takes the device: it runs in a process of its own, which is this
module: ``python -m pytest_autodeploy.doctor.meter`` prints one JSON list.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterable
from typing import Any

from pytest_autodeploy.base.process import run_tool
from pytest_autodeploy.doctor.access import denied
from pytest_autodeploy.doctor.check import Check
from pytest_autodeploy.doctor.usb import usb_devices
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.power.joulescope import MODELS, device_name

JOULESCOPE_VID = 0x16D0
TIMEOUT_S = 20.0
OPEN_TIMEOUT_S = 5.0
COMMAND = (sys.executable, "-P", "-m", "pytest_autodeploy.doctor.meter")

_KEEP = "restore"
"""How a Joulescope is opened: with the settings that it has, so that a board keeps its supply."""


def meter(_: BuildOptions) -> Iterable[Check]:
    """The Joulescopes that are connected, each found or held."""
    if not driver_installed():
        return  # the extra is missing, which is said elsewhere
    closed = list(_closed())
    yield from closed
    done = run_tool(COMMAND, timeout_s=TIMEOUT_S)
    by_hand = "run it by hand to see why: python -m pytest_autodeploy.doctor.meter"
    if done.code is None:
        what = f"the Joulescope driver did not answer in {TIMEOUT_S:g} s"
        yield Check("meter", "trouble", what, by_hand)
        return
    try:
        found: list[dict[str, Any]] = json.loads(done.output.strip().splitlines()[-1])
        checks = [_check(str(device["name"]), device["error"]) for device in found]
    except (ValueError, LookupError, TypeError):
        yield Check("meter", "trouble", f"the Joulescope driver {done.how}", by_hand)
        return
    if not checks and not closed:
        checks = [Check("meter", "missing", "no Joulescope is connected", "connect it by USB")]
    yield from checks


def driver_installed() -> bool:
    """Whether the Joulescope driver can be imported."""
    return importlib.util.find_spec("pyjoulescope_driver") is not None


def _check(name: str, error: str | None) -> Check:
    if error is None:
        return Check("meter", "ok", f"{name}, free")
    fix = "another program holds it, such as the Joulescope UI: close that"
    return Check("meter", "trouble", f"{name} is held: {error}", fix)


def _closed() -> Iterable[Check]:
    for device in usb_devices(JOULESCOPE_VID):
        refused = denied(device.node, JOULESCOPE_VID)
        if refused:
            yield Check(
                "meter", "trouble", f"{device.name} ({device.node}): {refused[0]}", refused[1]
            )


def joulescopes(driver: Any) -> list[dict[str, str | None]]:
    """Name and error of each Joulescope; one that opens has the error None, and is closed again."""
    return [
        {"name": device_name(path), "error": _open_error(driver, path)}
        for path in driver.device_paths()
        if path.split("/")[1] in MODELS
    ]


def _open_error(driver: Any, path: str) -> str | None:
    try:
        driver.open(path, _KEEP, OPEN_TIMEOUT_S)
        driver.close(path)
    except (RuntimeError, TimeoutError) as error:
        return str(error)
    return None


def main() -> None:
    """Print the Joulescopes as JSON."""
    from pyjoulescope_driver import Driver

    with Driver() as driver:
        sys.stdout.write(json.dumps(joulescopes(driver)) + "\n")


if __name__ == "__main__":
    main()
