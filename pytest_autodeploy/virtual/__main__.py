"""``python -m pytest_autodeploy.virtual``: runs an image to the end of standard input.

Writes one JSON line when its serial line can be reached; what is worth a line goes to standard
error. A program that ends itself ends the process, with its status.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_autodeploy.catalog.chips import chip_names, find_chip
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
    chosen = parser.parse_args()
    chip = find_chip(chosen.chip)
    assert chip is not None
    try:
        image = read_image(chosen.image, chip.vectors)
    except ImageError as error:
        say({"ready": False, "error": str(error)})
        return 2
    link = SerialLink()
    wires = Wires(*chosen.pins) if chosen.pins else None
    machine = Machine(chip, image, link, _log, wires=wires)
    say({"ready": True, "port": link.url, "sha256": image.sha256})
    orders = Orders(machine, wires)
    link.watch(sys.stdin.fileno(), orders.hear)
    try:
        machine.run(lambda: orders.over)
    except Exited as exited:
        return exited.status
    finally:
        link.close()
    return 0


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
