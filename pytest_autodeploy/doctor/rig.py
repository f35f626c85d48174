"""The boards of a rig file: whether each is there, and whether this user may use it."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from pytest_autodeploy.base.lease import try_lease
from pytest_autodeploy.board.pool import Pool, Standing
from pytest_autodeploy.board.probe import ProbeUnavailable
from pytest_autodeploy.board.usb_ports import port_identity, probe_identity
from pytest_autodeploy.catalog.links import SEGGER_VID
from pytest_autodeploy.doctor import meter
from pytest_autodeploy.doctor.access import denied
from pytest_autodeploy.doctor.boards import connected_probes
from pytest_autodeploy.doctor.check import Check, Goal
from pytest_autodeploy.doctor.fixes import pip_install
from pytest_autodeploy.image.firmware import BuildOptions

CONNECT_S = 3.0


def rig_goal(pool: Pool) -> Goal:
    """To run on the boards of a rig: a look at each."""
    path = pool.rig.path
    typed = pool.rig.boards[0].type if pool.rig.boards else "NAME"
    how = f"pytest --tflite=model.tflite --evb-rig={path} --evb {typed}"
    looks = [partial(_look, pool, number) for number in range(len(pool.rig.boards))]
    return Goal("rig", f"Rig {path}", how, looks)


def _look(pool: Pool, number: int, _: BuildOptions) -> Iterable[Check]:
    """At one board, as it is now."""
    standing = pool.standings()[number]
    name = standing.board.name
    yield _state(standing, pool.rig.path)
    for what, found, fix in _faults(standing):
        yield Check(f"{name} {what}", "trouble", found, fix)


def _state(standing: Standing, path: Path) -> Check:
    board = standing.board
    ways = [board.type, board.port or "", f"probe {board.probe}" if board.probe else ""]
    text = f"{', '.join(filter(None, ways))}: {standing.text}"
    if standing.out is not None:
        fix = f"autodeploy boards --rig {path} --put-back {board.name}"
        return Check(board.name, "trouble", text, fix)
    if standing.there or standing.holder is not None:
        return Check(board.name, "ok", text)
    return Check(
        board.name,
        "trouble",
        text,
        f"connect it and switch it on, or change its port in {path}; firmware with USB shows up "
        "once it is flashed",
    )


Fault = tuple[str, str, str | None]


def _faults(standing: Standing) -> Iterator[Fault]:
    board = standing.board
    if board.port and standing.there and standing.holder is None:
        yield from _port_faults(board.port)
    if board.probe is not None:
        yield from _probe_faults(board.probe)
    if board.meter is not None:
        yield from _meter_faults(board.meter)
    if board.power_cycle and shutil.which(board.power_cycle[0]) is None:
        program = board.power_cycle[0]
        yield "power", f"no program {program}", "install it, or give its path in the rig file"


def _port_faults(port: str) -> Iterator[Fault]:
    if "://" not in port:
        refused = denied(Path(port), SEGGER_VID)
        if refused:
            yield "port", f"{port}: {refused[0]}", refused[1]
        return
    lease = try_lease(port_identity(port))  # a server may have room for one alone
    if lease is None:
        return
    try:
        parts = urlsplit(port)
        socket.create_connection((parts.hostname, parts.port), CONNECT_S).close()
    except (OSError, ValueError) as error:
        yield "port", f"{port}: {error}", "start its server, or check HOST:PORT"
    finally:
        lease.release()


def _probe_faults(probe: str) -> Iterator[Fault]:
    serials, why = _connected()
    if why:
        yield "probe", why, "autodeploy doctor evb says more"
    elif probe_identity(probe) not in map(probe_identity, serials):
        there = ", ".join(serials) or "none"
        yield "probe", f"no probe {probe}; there: {there}", "connect it, or mend its serial number"


def _meter_faults(serial: str) -> Iterator[Fault]:
    if not meter.driver_installed():
        yield (
            "meter",
            "the extra 'joulescope' is missing",
            pip_install("pytest-autodeploy[joulescope]"),
        )
        return
    found = _meters()
    mine = [check for check in found if check.found.split(",")[0].endswith(f"-{serial}")]
    if not mine and not any(f"-{serial} " in check.found for check in found):
        seen = "; ".join(check.found for check in found) or "none"
        yield "meter", f"no Joulescope {serial}; there: {seen}", "connect it by USB"


@cache
def _meters() -> tuple[Check, ...]:
    return tuple(meter.meter(BuildOptions()))


@cache
def _connected() -> tuple[tuple[str, ...], str]:
    try:
        return tuple(probe.serial for probe in connected_probes()), ""
    except ProbeUnavailable as error:
        return (), error.what
