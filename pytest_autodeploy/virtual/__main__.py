"""``python -m pytest_autodeploy.virtual``: runs an image to the end of standard input.

Writes one JSON line when its serial line can be reached; what is worth a line goes to standard
error. A program that ends itself ends the process, with its status.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from pytest_autodeploy.catalog.chips import chip_names, find_chip
from pytest_autodeploy.virtual.image_file import ImageError, read_image
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.machine import Exited, Machine


def main() -> int:
    """Run the machine; the exit code is 2 when there is nothing to run."""
    parser = argparse.ArgumentParser(prog="python -m pytest_autodeploy.virtual")
    parser.add_argument("--chip", required=True, choices=chip_names())
    parser.add_argument("--image", required=True, type=Path)
    chosen = parser.parse_args()
    chip = find_chip(chosen.chip)
    assert chip is not None
    try:
        image = read_image(chosen.image, chip.vectors)
    except ImageError as error:
        return _say({"ready": False, "error": str(error)}, 2)
    link = SerialLink()
    machine = Machine(chip, image, link, _log)
    _say({"ready": True, "port": link.url, "sha256": image.sha256}, 0)
    orders = _Orders(machine)
    link.watch(sys.stdin.fileno(), orders.hear)
    try:
        machine.run(lambda: orders.over)
    except Exited as exited:
        return exited.status
    finally:
        link.close()
    return 0


class _Orders:
    """Standard input: orders as JSON lines, and its end, which is that of the machine.

    ``{"op": "count", "exact": true}`` counts every instruction from now on; at first that is off.
    """

    def __init__(self, machine: Machine) -> None:
        self.over = False
        self._machine = machine
        self._text = b""

    def hear(self) -> None:
        """Take what there is."""
        data = os.read(sys.stdin.fileno(), 4096)
        self.over = not data
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, order: dict[str, object]) -> None:
        known = order.get("op") == "count"
        if known:
            self._machine.core.count_exactly(bool(order.get("exact")))
        _say({"ok": known}, 0)


def _say(message: dict[str, object], code: int) -> int:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
    return code


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
