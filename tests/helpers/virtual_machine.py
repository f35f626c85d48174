"""A small virtual machine for tests, and programs for it in assembly."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_autodeploy.catalog.chips import Chip, Region, find_chip
from pytest_autodeploy.virtual.core import Stop
from pytest_autodeploy.virtual.image_file import ImageFile
from pytest_autodeploy.virtual.link import SerialLink
from pytest_autodeploy.virtual.machine import Machine
from pytest_autodeploy.virtual.supply import Wires

RAM = 0x2000_0000
_HEAD = """
.syntax unified
.cpu cortex-m4
.fpu fpv4-sp-d16
.thumb
.word 0x20008000, start + 1
{vectors}
.org 0x200
start:
"""
_LIMIT = 10_000
"""Steps of a program that should have come to its breakpoint long before."""


def assemble(program: str, **handlers: int) -> bytes:
    """An image with vectors at 0; ``handlers`` are labels by the numbers of their exceptions."""
    numbers = {number: label for label, number in handlers.items()}
    words = [f".word {numbers[n]} + 1" if n in numbers else ".word 0" for n in range(2, 64)]
    compiler = str(shutil.which("arm-none-eabi-gcc"))
    objcopy = str(shutil.which("arm-none-eabi-objcopy"))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "program.s")
        source.write_text(_HEAD.format(vectors="\n".join(words)) + program + "\n.pool\n")
        made, image = source.with_suffix(".o"), source.with_suffix(".bin")
        subprocess.run([compiler, "-c", source, "-o", made], check=True)
        subprocess.run([objcopy, "-O", "binary", made, image], check=True)
        return image.read_bytes()


class Wire(SerialLink):
    """A line without a host: a test puts bytes in, and sees what the board has sent."""

    def __init__(self) -> None:
        self._in: deque[int] = deque()
        self.sent = bytearray()
        self.arrived = lambda: None

    def give(self, data: bytes) -> None:
        """Bytes for the board."""
        self._in.extend(data)
        self.arrived()

    def send_byte(self, byte: int) -> None:
        self.sent.append(byte)

    def poll(self, timeout_s: float = 0.0) -> bool:  # noqa: ARG002
        return False


class Bench(Machine):
    """A machine whose log is in ``lines``."""

    def __init__(self, chip: Chip, image: bytes, wires: Wires | None = None) -> None:
        self.lines: list[str] = []
        self.wire = Wire()
        file = ImageFile(((0, image),), "")
        super().__init__(chip, file, self.wire, self.lines.append, wires=wires)


def machine(image: bytes, chip: str = "mps2-an386") -> Bench:
    """A machine that runs an image at 0, with the peripherals of a chip."""
    found = find_chip(chip)
    assert found is not None
    return on_chip(found, image)


def on_chip(chip: Chip, image: bytes, wires: Wires | None = None) -> Bench:
    """A machine that runs an image at 0, with memory for its stack."""
    ram = Region("ram of the test", RAM, 0x10_0000, writable=True)
    others = [each for each in chip.memories if each.base != RAM]
    return Bench(replace(chip, vectors=0, memories=(*others, ram)), image, wires)


def finish(machine: Bench, done: Callable[[], bool] | None = None) -> None:
    """Run to the program's breakpoint, or until something is so."""
    for _ in range(_LIMIT):
        machine.step()
        if done() if done else _at_breakpoint(machine):
            return
    raise AssertionError(f"still at 0x{machine.core.pc:08X}: {machine.lines}")


def _at_breakpoint(machine: Bench) -> bool:
    return any(line.startswith("breakpoint") for line in machine.lines)


def stopped(machine: Bench, budget: int) -> Stop:
    """Run the core alone to something else than the end of its budget."""
    while (stop := machine.core.run(budget)) is Stop.BUDGET:
        pass
    return stop
