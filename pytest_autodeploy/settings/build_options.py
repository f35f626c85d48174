"""The options of builds for boards: memories, versions, and what is kept for a debugger."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.settings.option import Option, natural


def reserves(text: str) -> Any:
    """Parse ``--evb-reserve``; ValueError says what is valid."""
    from pytest_autodeploy.catalog.reserve import parse_reserves

    return parse_reserves(text)


BUILD_OPTIONS = (
    Option(
        "evb_transport",
        "--evb-transport",
        "Link of an EVB that can have both: usb (its own USB port) or uart (the serial port of its "
        "J-Link) (default: the board's usual one, see autodeploy boards)",
        metavar="LINK",
        choices=("usb", "uart"),
    ),
    Option(
        "evb_model_memory",
        "--evb-model-memory",
        "Memory for the model in a build: mram, sram, dtcm, psram or nvm, where the board and its "
        "linker script have it, or the firmware starts it; a model that is larger than mram is "
        "loaded into psram over the link (default: the first that has room)",
        metavar="NAME",
    ),
    Option(
        "evb_arena_memory",
        "--evb-arena-memory",
        "Memory for the arena in a build: dtcm, sram or psram, where the board and its linker "
        "script have it, or the firmware starts it (default: the first that has room)",
        metavar="NAME",
    ),
    Option(
        "evb_tflm_memory",
        "--evb-tflm-memory",
        "Memory for TFLM's code: itcm on EVBs whose SDK has a linker script for that, or mram "
        "(default: mram)",
        metavar="NAME",
        default="mram",
        choices=("mram", "itcm"),
    ),
    Option(
        "evb_reserve",
        "--evb-reserve",
        "What is kept of memories for firmware and system, in place of the catalog's, such as "
        "sram=20%+85kb,dtcm=8kb",
        metavar="SIZES",
        default=(),
        convert=reserves,
    ),
    Option(
        "evb_arena_padding",
        "--evb-arena-padding",
        "KB that libraries and applications get beyond the arena that ran the model (default: 0)",
        metavar="KB",
        ini="int",
        default=0,
        convert=natural,
    ),
    Option(
        "evb_ambiqsuite",
        "--evb-ambiqsuite",
        "AmbiqSuite of the SDK that is built with, such as R4.5.0 (default: the board's own)",
        metavar="VERSION",
    ),
    Option(
        "evb_keep_build",
        "--evb-keep-build",
        "Folder for a copy of the firmware that is built, with its symbols and the command that "
        "starts GDB on it",
        metavar="DIR",
    ),
)
