"""The orders of the host to a machine: JSON lines on standard input, and their answers."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.virtual.core import Counting

if TYPE_CHECKING:
    from pytest_autodeploy.virtual.machine import Machine
    from pytest_autodeploy.virtual.supply import Stretch, Wires

_INPUT = 0
"""Standard input."""


class Orders:
    """Obeys orders; the end of standard input is that of the machine.

    ``{"op": "count", "exact": true}`` counts every instruction from now on; at first none is.
    ``stream`` with ``on`` tells that a meter takes samples, which needs a count; ``advance`` with
    ``seconds`` is answered with their ``stretches`` when that time has passed; ``trigger`` with
    ``high`` sets the input.
    """

    def __init__(self, machine: Machine, wires: Wires | None) -> None:
        self.over = False
        self._machine = machine
        self._wires = wires
        self._text = b""
        machine.supply.deliver = _deliver
        machine.core.count(Counting.NONE)

    def are_over(self) -> bool:
        """Whether the host gives no more of them."""
        return self.over

    def hear(self) -> None:
        """Take what there is."""
        data = os.read(_INPUT, 4096)
        self.over = not data
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, order: dict[str, Any]) -> None:
        machine = self._machine
        match order["op"]:
            case "count":
                machine.core.count(Counting.EXACT if order["exact"] else Counting.NONE)
            case "stream":
                machine.core.count(Counting.FAST if order["on"] else Counting.NONE)
                machine.supply.stream(bool(order["on"]))
            case "trigger" if self._wires is not None:
                machine.set_input(self._wires.trigger, bool(order["high"]))
            case "advance" if machine.supply.want(float(order["seconds"])):
                return  # answered when that time has passed
            case other:
                say({"ok": False, "error": f"cannot {other}: no such order, or no meter streams"})
                return
        say({"ok": True})


def _deliver(stretches: list[Stretch]) -> None:
    say({"ok": True, "stretches": stretches})


def say(message: dict[str, Any]) -> None:
    """Write a line to the host."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
