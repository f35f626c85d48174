"""``python -m pytest_autodeploy.virtual``: runs an image to the end of standard input.

Writes one JSON line when its serial line can be reached; what is worth a line goes to standard
error. A program that ends itself ends the process, with its status.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_autodeploy.base import trace
from pytest_autodeploy.catalog.chips import chip_names, find_chip
from pytest_autodeploy.virtual.gdb import GdbServer
from pytest_autodeploy.virtual.image_file import ImageError, read_image
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.machine import Exited, Machine
from pytest_autodeploy.virtual.orders import Orders, say
from pytest_autodeploy.virtual.supply import Wires


def main() -> int:
    """Run the machine; the exit code is 2 when there is nothing to run."""
    parser = argparse.ArgumentParser(prog="python -m pytest_autodeploy.virtual")
    parser.add_argument("--chip", required=True, choices=chip_names())
    parser.add_argument("--image", required=True, type=Path)
    pins = "pins of the power meter's In0, In1 and trigger"
    parser.add_argument("--pins", nargs=3, type=int, metavar=("IN0", "IN1", "TRIGGER"), help=pins)
    parser.add_argument("--gdb", type=int, metavar="PORT", help="serve GDB's remote protocol")
    chosen = parser.parse_args()
    trace.join(f"virtual board, {chosen.chip}")
    chip = find_chip(chosen.chip)
    assert chip is not None
    try:
        with trace.span("read the image"):
            image = read_image(chosen.image, chip.vectors)
    except ImageError as error:
        say({"ready": False, "error": str(error)})
        return 2
    link = SerialLink()
    wires = Wires(*chosen.pins) if chosen.pins else None
    machine = Machine(chip, image, link, _log, wires=wires)
    orders = Orders(machine, wires)
    try:
        debugger = None if chosen.gdb is None else GdbServer(machine, chosen.gdb, orders.are_over)
    except OSError as error:
        say({"ready": False, "error": f"port {chosen.gdb} for GDB is not free: {error.strerror}"})
        return 2
    say({"ready": True, "port": link.url, "sha256": image.sha256})
    link.watch(sys.stdin.fileno(), orders.hear)
    try:
        _run(machine, orders, debugger)
    except Exited as exited:
        return exited.status
    finally:
        link.close()
    return 0


def _run(machine: Machine, orders: Orders, debugger: GdbServer | None) -> None:
    if debugger is None:
        machine.run(orders.are_over)
        return

    def over() -> bool:
        debugger.look()
        return orders.over

    machine.run(over)


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
