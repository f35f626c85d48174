"""The USB link of EVBs, compiled for this PC: a megabyte both ways through TinyUSB's FIFOs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.image.trees import SDK_VARIABLE
from tests.helpers.firmware_support import FIRMWARE, needs

USB = FIRMWARE / "tests" / "usb"
FLAGS = (
    "-DAUTODEPLOY_LINK_USB",
    '-DAUTODEPLOY_BOARD="host"',
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
OUR_INCLUDES = (FIRMWARE, USB, USB / "stand_in", FIRMWARE / "validator" / "default")
SUITES = sorted(
    {board_spec(n).ambiqsuite for n in board_names() if board_spec(n).transport == "usb"}
)


def passes(folder: Path, sources: Sequence[Path], flags: Sequence[str]) -> None:
    """Compiles the link, its test and these C sources of a class driver, and runs the test."""
    objects = [_compiled("cc", folder, path, flags) for path in (USB / "controller.c", *sources)]
    ours = (
        USB / "link_tests.cc",
        FIRMWARE / "boards" / "ambiq" / "link_usb.cc",
        FIRMWARE / "validator" / "board_defaults.cc",
    )
    objects += [_compiled("c++", folder, path, ["-std=c++17", *flags]) for path in ours]
    program = folder / "link_tests"
    _run("c++", *FLAGS, *map(str, objects), "-o", str(program))
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def _compiled(compiler: str, folder: Path, source: Path, flags: Sequence[str]) -> Path:
    made = folder / f"{source.name}.o"
    includes = [f"-I{path}" for path in OUR_INCLUDES]
    _run(compiler, *FLAGS, *includes, *flags, "-c", str(source), "-o", str(made))
    return made


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]


@needs("cc", "c++")
def test_a_megabyte_goes_both_ways_over_what_the_class_driver_promises(tmp_path: Path) -> None:
    stand_in = USB / "class_stand_in"
    passes(tmp_path, [stand_in / "class.c"], [f"-I{stand_in}", "-Wall", "-Wextra", "-Werror"])


@needs("cc", "c++")
@pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")
@pytest.mark.parametrize("suite", SUITES)
def test_a_megabyte_goes_both_ways_over_the_sdks_class_driver(tmp_path: Path, suite: str) -> None:
    """With what the USB boards of the catalog are built with: TinyUSB as AmbiqSuite changed it."""
    root = Path(os.environ[SDK_VARIABLE], "extern", "AmbiqSuite", suite)
    tinyusb = root / "third_party" / "tinyusb" / "source" / "src"
    (driver,) = (root / "src" / "usb").glob("cdc_device*.c")
    fifos = (root / "src" / "usb" / "tusb_fifo.c", tinyusb / "common" / "tusb_fifo.c")
    sources = [USB / "sdk_class.c", driver, next(path for path in fifos if path.exists())]
    folders = ("", "common", "device", "class/cdc")
    flags = [*(f"-I{tinyusb / name}" for name in folders), f"-I{root / 'src'}", "-w"]
    speed = ["-DCFG_TUSB_MCU=OPT_MCU_NONE", "-DBOARD_DEVICE_RHPORT_SPEED=OPT_MODE_HIGH_SPEED"]
    passes(tmp_path, sources, [*flags, *speed])
