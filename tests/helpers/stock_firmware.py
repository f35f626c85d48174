"""A board that neuralSPOT's AutoDeploy has flashed: what its validator does with blocks of bytes.

Written after the sources of three versions, of October 2023 (9bb138c80), October 2024 (89802c56a)
and March 2026 (308c4e631), with their faults; TFLM on this PC computes, times are modelled.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from tflite_micro import runtime  # before pytester, which drops what an inner run imports

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.sim.timing import main_cycles

Version = Literal[2023, 2024, 2026]
GENERIC, WRITE, READ = 0, 4, 5
DEADBEEF = 0xDEADBEEF
M4_MHZ = 192
PMU = ("MVE_INST_RETIRED", "MVE_INT_MAC_RETIRED", "INST_RETIRED", "BUS_CYCLES")
_COLUMNS = ["Event", "Tag", "uSeconds", "Est MACs"]
_M4_COLUMNS = [
    *("cycles", "cpi", "exc", "sleep", "lsu", "fold"),
    *("daccess", "dtaglookup", "dhitslookup", "dhitsline"),
    *("iaccess", "itaglookup", "ihitslookup", "ihitsline"),
]


class Crash(Exception):
    """The firmware wrote beyond its memory, or used what is not there: a HardFault."""


class Reply(NamedTuple):
    """What a call gives: its status and its block."""

    status: int
    description: str = ""
    command: int = GENERIC
    data: bytes = b""


@dataclass
class StockFirmware:
    """The validator of a ``version`` with a model built in.

    ``platform`` is 3, 4 or 5; ``dwt`` says whether the cycle counter runs; ``room`` is how often
    TFLM can allocate its tensors in the arena.
    """

    path: Path
    version: Version = 2026
    platform: int = 4
    dwt: bool = True
    room: int = 1
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = load_model(self.path)
        self.start()

    def start(self) -> None:
        """As after its reset button."""
        self._tflm: Any = runtime.Interpreter.from_bytes(self.model.content, [], 1 << 20)
        self._input = np.zeros(self._details.elements, self._details.dtype)
        self._allocated = 0
        self._configured = False
        self._arena = 0
        self._offset = 0
        self._chunked = False
        self._invoked = 0
        self._profile: list[tuple[str, int]] = []
        self._captured = 0
        self._stats: bytes | None = None
        self._outputs = b""
        self._pmu_layer: int | None = None

    @property
    def _details(self) -> Any:
        return self.model.inputs[0]

    @property
    def _newest(self) -> bool:
        return self.version == 2026

    # ---- the three calls

    def send(self, command: int, data: bytes) -> Reply:
        """sendBlockToEVB."""
        self.calls.append(f"send {command} {len(data)}")
        if command == GENERIC:
            return Reply(self._configure(data))
        if command == WRITE:
            return Reply(self._write_chunk(data))
        return Reply(1)

    def fetch(self) -> Reply:
        """fetchBlockFromEVB."""
        self.calls.append("fetch")
        piece = 4096 - 400 if self.version == 2023 else 4096 - 1000
        if self._stats is not None:
            data, self._stats = self._stats[:piece], self._stats[piece:] or None
            return Reply(0, "PartStats" if self._stats else "LastStats", WRITE, data)
        whole = self.statistics()
        if len(whole) <= piece:
            return Reply(0, "FullStats", GENERIC, whole)
        self._stats = whole[piece:]
        return Reply(0, "PartStats", GENERIC, whole[:piece])

    def compute(self, command: int, data: bytes) -> Reply:
        """computeOnEVB."""
        self.calls.append(f"compute {command} {len(data)}")
        if command == WRITE and self.version != 2023:
            return self._next_outputs(data)
        if not self._configured:
            raise Crash("no interpreter")
        if not self._chunked:
            self._write(0, data)
        self._invoke()
        self._offset = 0
        self._chunked = self._chunked and not self._newest  # older ones never forget it
        whole = b"".join(
            self._tflm.get_output(index).tobytes() for index in range(len(self.model.outputs))
        )
        if self.version == 2023:
            return Reply(0, "Invoke Successful!", GENERIC, whole)
        if len(whole) < 3096 or (self._newest and len(whole) == 3096):
            return Reply(0, "FullTensor", GENERIC, whole)
        self._outputs = whole[3096:]
        return Reply(0, "PartTensor", GENERIC, whole[:3096])

    # ---- what they do

    def _configure(self, data: bytes) -> int:
        words = 7 if self._newest else 6
        if len(data) < 4 * words:
            return 1
        head = struct.unpack_from(f"<{words}I", data)
        if len(data) != 4 * (words + head[4] + head[5]):
            return 1
        self._profiling, self._warm_up = head[0], head[3]
        self._allocated += 1
        self._configured = self._allocated <= self.room
        self._arena = 23_456 if self._configured else DEADBEEF
        if self._newest:
            self._offset, self._chunked, self._stats = 0, False, None
            self._invoked = 0
        return 0 if self._configured else 1

    def _write_chunk(self, data: bytes) -> int:
        if not self._configured:
            raise Crash("no input")
        self._write(self._offset, data)
        self._offset += len(data)
        self._chunked = True
        return 0

    def _write(self, offset: int, data: bytes) -> None:
        memory = self._input.view(np.uint8)
        if offset + len(data) > len(memory):
            raise Crash("beyond the input")
        memory[offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def _invoke(self) -> None:
        shape = self.model.inputs[0].shape
        self._tflm.set_input(self._input.reshape(shape), 0)
        for index, tensor in enumerate(self.model.inputs[1:], 1):
            self._tflm.set_input(np.zeros(tensor.shape, tensor.dtype), index)
        self._tflm.invoke()
        self._events = getattr(self, "_events", 0) + len(self._layers())
        if self._profiling and self._invoked == self._warm_up:
            self._profile = self._layers()
            self._captured = self._events
        self._invoked += 1

    def _layers(self) -> list[tuple[str, int]]:
        cycles = main_cycles(self.model, "cortex-m55" if self.platform == 5 else "cortex-m4f", {})
        main = [operator.name for operator in self.model.operators if operator.subgraph == 0]
        return list(zip(main, cycles, strict=True))

    def _next_outputs(self, data: bytes) -> Reply:
        part, self._outputs = self._outputs[:3096], self._outputs[3096:]
        if not self._newest:
            part = data[: len(part)] + part[len(data) :]  # its memcpy of what it was sent
        return Reply(0, "PartTensor" if self._outputs else "LastTensor", WRITE, part)

    def statistics(self) -> bytes:
        """The struct as it is now."""
        layers = len(self._layers())
        size, tag = (84, 20) if self._newest else (76, 12)
        preamble = 540 if self._newest else 16
        total = preamble + size * layers
        if self._newest:
            profiled = size if self._invoked else 0
            count = min(self._captured, layers)
            head = struct.pack("<7I", self._arena, total, profiled, 0, 0, count, self.platform)
            head += self._header().ljust(512, b"\0") if self._profile else bytes(512)
        else:
            head = struct.pack("<4I", self._arena, total, size, self._captured)
        events = b"".join(self._event(n, *layer, tag) for n, layer in enumerate(self._profile))
        return (head + events).ljust(total, b"\0")

    def _header(self) -> bytes:
        own = [f"ARM_PMU_{name}" for name in PMU] if self.platform == 5 else _M4_COLUMNS
        return ",".join(f'"{name}"' for name in [*_COLUMNS, *own]).encode()

    def _event(self, number: int, name: str, cycles: int, tag: int) -> bytes:
        counted = [1000 * number + column for column in range(8)]
        dwt = [cycles if self.dwt else 0, *(number + column for column in range(5))]
        head = struct.pack("<16I", *counted, *dwt, 7, cycles // M4_MHZ)
        return head + name.encode()[: tag - 1].ljust(tag, b"\0")
