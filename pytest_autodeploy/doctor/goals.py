"""What users want to do, and what each of these needs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping

from pytest_autodeploy.catalog.kinds import KINDS, Kind
from pytest_autodeploy.doctor import boards, installation, meter, tools
from pytest_autodeploy.doctor.check import Goal, Look
from pytest_autodeploy.settings.board_options import DEFAULT_EVB

_WHEELS = ("linux", "x86_64")
"""What tflite-micro has wheels for."""

_NO_WHEEL = (
    ""
    if (sys.platform, platform.machine()) == _WHEELS
    else "\ntflite-micro has wheels for Linux on x86-64 only: use that, WSL or a container of it"
)

LOOKS: Mapping[str, Look] = {
    "sim": installation.packages_of("sim", _NO_WHEEL),
    "compiler": tools.compiler,
    "make": tools.make,
    "cmake": tools.cmake,
    "ninja_or_make": tools.ninja_or_make,
    "tflm_tree": tools.tflm_tree,
    "sdk": tools.sdk,
    "qemu": tools.qemu,
    "probe_tool": boards.probe_tool,
    "virtual": installation.packages_of("virtual"),
    "labgrid": tools.labgrid_client,
}
"""How each of the needs of boards is looked for."""


def looks_of(kind: Kind) -> tuple[Look, ...]:
    """What the boards of a kind need on the PC, whether or not one is connected."""
    return tuple(LOOKS[need] for need in kind.needs)


def _goal(kind: Kind) -> Goal:
    """To run on a kind of boards; those of hardware have to be connected, too."""
    board = f"{kind.prefix}{kind.example}"
    how = "pytest --tflite=model.tflite" + (f" --evb {board}" if board != DEFAULT_EVB else "")
    own = kind.is_hardware and not kind.stands_in  # what a lab lends is not connected to this PC
    connected = (boards.probes, boards.serial_ports) if own else ()
    return Goal(kind.goal_name, kind.goal_title, how, (*looks_of(kind), *connected))


GOALS = (
    Goal(
        "installation",
        "This installation",
        "autodeploy inspect model.tflite",
        (installation.python, installation.plugin, installation.caches),
    ),
    *(_goal(kind) for kind in KINDS if kind.needs),
    Goal(
        "energy",
        "Energy of EVBs",
        "pytest --tflite=model.tflite --evb apollo4p_evb --autodeploy-power=joulescope",
        (installation.packages_of("joulescope"), meter.meter),
    ),
    Goal(
        "estimates",
        "Estimates for Ethos-U",
        "pytest --tflite=model.tflite --tflite-npu ethos-u85-256",
        (installation.packages_of("vela"),),
    ),
    Goal(
        "keras",
        "Keras models",
        "pytest --tflite=model.keras",
        (installation.packages_of("tensorflow"),),
    ),
)
