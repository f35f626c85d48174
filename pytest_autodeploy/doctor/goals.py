"""What users want to do, and what each of these needs."""

from __future__ import annotations

import platform
import sys

from pytest_autodeploy.doctor import boards, installation, meter, tools
from pytest_autodeploy.doctor.check import Goal

_WHEELS = ("linux", "x86_64")
"""What tflite-micro has wheels for."""

_NO_WHEEL = (
    ""
    if (sys.platform, platform.machine()) == _WHEELS
    else "\ntflite-micro has wheels for Linux on x86-64 only: use that, WSL or a container of it"
)

_EVB_TOOLS = (tools.compiler, tools.make, tools.sdk, boards.probe_tool)

SIMULATED = Goal(
    "simulated",
    "Simulated boards",
    "pytest --tflite model.tflite",
    (installation.packages_of("sim", _NO_WHEEL),),
)
EMULATED = Goal(
    "emulated",
    "Emulated boards",
    "pytest --tflite model.tflite --evb qemu:mps2-an386",
    (tools.compiler, tools.cmake, tools.ninja_or_make, tools.tflm_tree, tools.qemu),
)
EVB = Goal(
    "evb",
    "EVBs",
    "pytest --tflite model.tflite --evb apollo4p_evb",
    (*_EVB_TOOLS, boards.probes, boards.serial_ports),
)
GOALS = (
    Goal(
        "installation",
        "This installation",
        "autodeploy inspect model.tflite",
        (installation.python, installation.plugin, installation.caches),
    ),
    SIMULATED,
    EMULATED,
    EVB,
    Goal(
        "energy",
        "Energy of EVBs",
        "pytest --tflite model.tflite --evb apollo4p_evb --autodeploy-power joulescope",
        (installation.packages_of("joulescope"), meter.meter),
    ),
    Goal(
        "estimates",
        "Estimates for Ethos-U",
        "pytest --tflite model.tflite --tflite-npu ethos-u85-256",
        (installation.packages_of("vela"),),
    ),
    Goal(
        "keras",
        "Keras models",
        "pytest --tflite model.keras",
        (installation.packages_of("tensorflow"),),
    ),
)

KINDS = {"sim:": SIMULATED.looks, "qemu:": EMULATED.looks, "": _EVB_TOOLS}
"""What the boards of a prefix need on the PC, whether or not one is connected."""
