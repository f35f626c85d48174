"""A virtual machine in this process, whose power meter drives it."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.virtual.machine import Machine
from pytest_autodeploy.virtual.supply import Stretch, Wires


class Driven:
    """A machine that obeys the orders of a meter, without a process of its own."""

    id = "virtual:apollo3p_evb"

    def __init__(self, machine: Machine, wires: Wires) -> None:
        self._machine = machine
        self._wires = wires

    def control(self, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        del timeout_s
        match message["op"]:
            case "stream":
                self._machine.supply.stream(message["on"])
            case "trigger":
                self._machine.set_input(self._wires.trigger, message["high"])
            case "advance":
                return {"ok": True, "stretches": self._advance(message["seconds"])}
        return {"ok": True}

    def _advance(self, seconds: float) -> list[Stretch]:
        delivered: list[list[Stretch]] = []
        self._machine.supply.deliver = delivered.append
        assert self._machine.supply.want(seconds)
        self._machine.run(lambda: bool(delivered))
        return delivered[0]
