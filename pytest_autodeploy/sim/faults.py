"""Fault injection: faults of a simulated board, so that the host can be tested against them."""

from __future__ import annotations

import dataclasses
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_autodeploy.rpc.calls import CALLS, INFER, INVOKE
from pytest_autodeploy.rpc.messages import (
    BoardReport,
    ClockMode,
    Identity,
    Inference,
    InvokeTiming,
    LayerRecord,
)
from pytest_autodeploy.rpc.service import Validator
from pytest_autodeploy.sim.operator_fault import CORRUPT, ROUND, OperatorFault
from pytest_autodeploy.sim.own_clock import CLOCK_FAULTS, OwnClock

LONG_INPUT = 1024
"""Bytes from which an input is damaged by a link that loses something of long frames."""

KINDS_OF_CALL = ("die", "hang", "garbage")
KINDS = (
    *("corrupt-output", "flaky-output", "wrong-model"),
    *("wrong-board", "corrupt-input", "slow-profiler", "stuck-clock", "bad-dtcm"),
    "corrupt-model",
    *CLOCK_FAULTS,
)
SYNTAX = (
    "die@CALL: end like a crash; hang@CALL: never answer; garbage@CALL: bytes that are no answer; "
    "corrupt-output: other values; flaky-output: others in each inference; wrong-model: the hash "
    "of another model; wrong-board: another board's name; corrupt-input: a bit of long inputs; "
    "slow-profiler: layers that take twice as long; stuck-clock: LP is as fast as HP; bad-dtcm: "
    "other values with the arena in DTCM; corrupt-model: a bit of a model that the host loads; "
    "own-clock: it tells its ticks, fast-clock-hp, fast-clock-lp: which go a quarter too fast in "
    "that mode, wrapping-clock: and begin anew at 2**28; "
    "corrupt-op:N: the operator at position N makes other values; round-op:N: some that are one "
    "step off; N may be the name of an operator, for the first such one. CALL is a call of the "
    "interface, such as invoke, which means infer as well; CALL#2 only its second one"
)


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault: its ``kind``, the ``call`` that it befalls, and which one of them (0: each)."""

    kind: str
    call: str = ""
    nth: int = 0

    def __str__(self) -> str:
        call = f"@{self.call}" if self.call else ""
        return f"{self.kind}{call}{f'#{self.nth}' if self.nth else ''}"


def parse_fault(text: str) -> Fault | OperatorFault:
    """The fault that a user wrote; raises ValueError."""
    if text in KINDS:
        return Fault(text)
    if of_operator := re.fullmatch(rf"({CORRUPT}|{ROUND}):(?:(\d+)|([A-Z][A-Z0-9_]*))", text):
        kind, position, name = of_operator.groups()
        return OperatorFault(kind, int(position) if position else -1, name or "")
    found = re.fullmatch(r"(\w+)@(\w+)(?:#([1-9]\d*))?", text)
    calls = {_plain(call.name): call.name for call in CALLS.values()}
    if not found or found[1] not in KINDS_OF_CALL or _plain(found[2]) not in calls:
        raise ValueError(f"no fault {text!r}")
    return Fault(found[1], calls[_plain(found[2])], int(found[3] or 0))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class Faults:
    """The faults of one board, by the requests that reach it.

    ``of_operators`` are those that the board's engine has to bring about.
    """

    def __init__(self, faults: Sequence[Fault | OperatorFault] = ()) -> None:
        self.of_operators = [fault for fault in faults if isinstance(fault, OperatorFault)]
        self._faults = [fault for fault in faults if isinstance(fault, Fault)]
        self._kinds = {fault.kind for fault in faults}
        self._text = ", ".join(map(str, faults))
        self._calls: Counter[str] = Counter()
        self._clock = OwnClock(self._kinds)

    def strike(self, body: bytes) -> None:
        """Count a request, and die of it or hang in it."""
        self._calls.update(_calls(body))
        if self._due("die", body):
            signal.raise_signal(signal.SIGSEGV)
        while self._due("hang", body):
            time.sleep(3600)

    def spoil(self, validator: Validator) -> Validator:
        """The validator that answers in place of this one."""
        if not self._kinds:
            return validator
        invocations = self._calls["invoke"]
        return _Spoiled(validator, self._kinds, self._text, invocations, self._clock)

    def garble(self, body: bytes, reply: bytes) -> bytes:
        """What is sent in place of a reply."""
        return random.Random(0).randbytes(64) if self._due("garbage", body) else reply  # noqa: S311

    def _due(self, kind: str, body: bytes) -> bool:
        return any(
            fault.kind == kind and fault.call == call and fault.nth in (0, self._calls[call])
            for fault in self._faults
            for call in _calls(body)
        )


def _calls(body: bytes) -> tuple[str, ...]:
    """What the call is named in the head of a request, whose second byte is its number.

    An inference in one call is an invoke, too.
    """
    call = CALLS.get(body[1])
    if call is INFER:
        return (INFER.name, INVOKE.name)
    return (call.name,) if call else ()


class _Spoiled:
    """A validator that names its faults, and gives wrong outputs or a wrong identity.

    ``invocations`` are those so far; a flaky output depends on them.
    """

    def __init__(
        self,
        validator: Validator,
        kinds: set[str],
        text: str,
        invocations: int,
        clock: OwnClock,
    ) -> None:
        self._validator = validator
        self._kinds = kinds
        self._text = text
        self._invocations = invocations
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._validator, name)

    def identify(self) -> Identity:
        identity = self._validator.identify()
        build_id = f"{identity.build_id}, injected faults: {self._text}"
        identity = dataclasses.replace(identity, build_id=build_id)
        if "wrong-board" in self._kinds:
            identity = dataclasses.replace(identity, board=f"not_{identity.board}")
        if "wrong-model" not in self._kinds or not identity.model_sha256:
            return identity
        other = bytes(byte ^ 0xFF for byte in identity.model_sha256)
        return dataclasses.replace(identity, model_sha256=other)

    def write_model(self, offset: int, data: bytes) -> None:
        if "corrupt-model" in self._kinds:
            data = data[:-1] + bytes([data[-1] ^ 1])
        self._validator.write_model(offset, data)

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        return self._spoil(self._validator.read_output(index, offset, length))

    def infer(self, inputs: bytes) -> Inference:
        if "corrupt-input" in self._kinds and len(inputs) >= LONG_INPUT:
            inputs = inputs[:-1] + bytes([inputs[-1] ^ 1])
        inference = self._validator.infer(inputs)
        return dataclasses.replace(inference, outputs=self._spoil(inference.outputs))

    def invoke(self, count: int) -> InvokeTiming:
        timing = self._validator.invoke(count)
        identity = self._validator.identify()
        if "stuck-clock" not in self._kinds or identity.clock is not ClockMode.LOW_POWER:
            return timing
        low, high = identity.clocks_hz
        ticks = tuple(time * low // high for time in timing.ticks)
        return dataclasses.replace(timing, total_ticks=sum(ticks), ticks=ticks)

    def read_layers(self, first: int, count: int) -> tuple[int, Sequence[LayerRecord]]:
        total, layers = self._validator.read_layers(first, count)
        if "slow-profiler" not in self._kinds:
            return total, layers
        return total, [dataclasses.replace(layer, ticks=2 * layer.ticks) for layer in layers]

    def describe_board(self) -> BoardReport:
        ticks = self._clock.ticks(self._validator.identify())
        return dataclasses.replace(self._validator.describe_board(), ticks=ticks)

    def _arena_in(self, memory: str) -> bool:
        placements = self._validator.describe_board().placements
        return any((part.part, part.memory) == ("arena", memory) for part in placements)

    def _spoil(self, data: bytes) -> bytes:
        flipped = 0x40 if "corrupt-output" in self._kinds else 0
        if "flaky-output" in self._kinds:
            flipped ^= self._invocations & 0x7F
        if "bad-dtcm" in self._kinds and self._arena_in("DTCM"):
            flipped ^= 1
        return bytes(byte ^ flipped for byte in data)
