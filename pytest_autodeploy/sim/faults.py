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
from pytest_autodeploy.rpc.messages import Identity, Inference
from pytest_autodeploy.rpc.service import Validator
from pytest_autodeploy.sim.operator_fault import CORRUPT, ROUND, OperatorFault

KINDS_OF_CALL = ("die", "hang", "garbage")
KINDS = ("corrupt-output", "flaky-output", "wrong-model")
SYNTAX = (
    "die@CALL: end like a crash; hang@CALL: never answer; garbage@CALL: bytes that are no answer; "
    "corrupt-output: other values; flaky-output: others in each inference; wrong-model: the hash "
    "of another model; "
    "corrupt-op:N: the operator at position N makes other values; round-op:N: some that are one "
    "step off. CALL is a call of the interface, such as invoke, which means infer as well; CALL#2 "
    "only its second one"
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
    if of_operator := re.fullmatch(rf"({CORRUPT}|{ROUND}):(\d+)", text):
        return OperatorFault(of_operator[1], int(of_operator[2]))
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
        return _Spoiled(validator, self._kinds, self._text, self._calls["invoke"])

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

    def __init__(self, validator: Validator, kinds: set[str], text: str, invocations: int) -> None:
        self._validator = validator
        self._kinds = kinds
        self._text = text
        self._invocations = invocations

    def __getattr__(self, name: str) -> Any:
        return getattr(self._validator, name)

    def identify(self) -> Identity:
        identity = self._validator.identify()
        build_id = f"{identity.build_id}, injected faults: {self._text}"
        identity = dataclasses.replace(identity, build_id=build_id)
        if "wrong-model" not in self._kinds or not identity.model_sha256:
            return identity
        other = bytes(byte ^ 0xFF for byte in identity.model_sha256)
        return dataclasses.replace(identity, model_sha256=other)

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        return self._spoil(self._validator.read_output(index, offset, length))

    def infer(self, inputs: bytes) -> Inference:
        inference = self._validator.infer(inputs)
        return dataclasses.replace(inference, outputs=self._spoil(inference.outputs))

    def _spoil(self, data: bytes) -> bytes:
        flipped = 0x40 if "corrupt-output" in self._kinds else 0
        if "flaky-output" in self._kinds:
            flipped ^= self._invocations & 0x7F
        return bytes(byte ^ flipped for byte in data)
