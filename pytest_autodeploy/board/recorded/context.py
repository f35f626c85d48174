"""What a board's answer depends on, by the calls before it: clock, set-up, inputs, history.

The recorder and the board that answers from a recording follow the same calls with the same rules,
so that an answer is found by what was asked and of what, and not by when.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.messages import ClockMode, Status

KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)

_OF_OUTPUTS = (calls.READ_OUTPUT, calls.READ_TENSOR)
_OF_TENSORS = (calls.DESCRIBE_INPUT, calls.DESCRIBE_OUTPUT, calls.DESCRIBE_TENSOR)
_INDEX_AND_OFFSET = 8


def digest(*parts: bytes) -> bytes:
    """A key of these parts, each of which counts with its length."""
    made = hashlib.blake2b(digest_size=KEY_BYTES)
    for part in parts:
        made.update(len(part).to_bytes(4, "little"))
        made.update(part)
    return made.digest()


def status_of(answer: bytes) -> Status | None:
    """How a call ended, which stands at the end of its answer; None for no such number."""
    try:
        return Status(int.from_bytes(answer[-4:], "little", signed=True))
    except ValueError:
        return None


@dataclass(frozen=True)
class Place:
    """Which answer of a recording it is: a key, and which of the answers of that key ``of``."""

    key: bytes = NO_KEY
    of: int = 0


@dataclass
class Context:
    """The state of a board as far as its calls tell it.

    ``stateful``: the model keeps state from inference to inference. ``ran``: whether an inference
    has run since the latest set-up; ``outputs`` and ``layers`` are the inferences whose outputs
    and layers can be read.
    """

    clock: int = ClockMode.HIGH_PERFORMANCE
    image: bytes = b""
    kept: bytes = b""
    counters: bytes = b""
    set_up: bytes = b""
    input_count: int = 0
    stateful: bool = False
    ran: bool = False
    history: bytes = b""
    outputs: Place = Place()
    layers: Place = Place()
    whole_input: bytes = b""
    inputs: dict[bytes, bytes] = field(default_factory=dict)

    def loaded(self, arena_bytes: int, roomy: bool, clock: int) -> None:
        """An image was loaded: it has to be set up again."""
        self.image = digest(arena_bytes.to_bytes(4, "little"), bytes([roomy]))
        self.clock = clock

    def key(self, call: Call, request: bytes) -> bytes:
        """What the answer to a call depends on; that of `invoke` is without its count."""
        parts = [bytes([call.id])]
        if call is calls.INVOKE:
            parts += [self._conditions(), self.counters, self._inputs()]
        elif call is calls.INFER:
            parts += [self._conditions(), self.history, self._inputs(request)]
        elif call is calls.PROFILE:
            parts += [self._conditions(), self.counters, self._inputs(), bytes([self.ran])]
        elif call in _OF_OUTPUTS:
            parts += [request, self.outputs.key]
        elif call is calls.READ_LAYERS:
            parts += [request, self.layers.key]
        elif call is calls.CONFIGURE:
            parts += [request, self.image, self.kept]
        elif call in _OF_TENSORS:
            parts += [request, self.set_up]
        elif call in (calls.IDENTIFY, calls.DESCRIBE_BOARD):
            parts += [bytes([self.clock]), self.counters]
        elif call is not calls.READ_LOG:
            parts += [request]
        return digest(*parts)

    def instance(self, call: Call) -> int:
        """Which inference is read of, for the calls that read of one."""
        if call in _OF_OUTPUTS:
            return self.outputs.of
        return self.layers.of if call is calls.READ_LAYERS else 0

    def answered(self, call: Call, request: bytes, answer: bytes) -> None:
        """Follow what a call did to the board; inferences are followed by `inferred`."""
        if status_of(answer) is not Status.OK:
            if call is calls.CONFIGURE:
                self._begin(b"")
            return
        if call is calls.CONFIGURE:
            self._begin(digest(request, self.image, self.kept))
            self.input_count = int.from_bytes(answer[8:12], "little")  # of `ModelState`
        elif call is calls.SET_CLOCK:
            self.clock = request[0]
        elif call is calls.KEEP_TENSORS:
            self.kept = request
        elif call is calls.SELECT_COUNTERS:
            self.counters = request
        elif call is calls.RESET_STATE:
            self.history = b""
        elif call is calls.WRITE_INPUT:
            self._written(request)
        elif call is calls.INFER and len(request) > 4:
            self.whole_input = digest(request)
            self.inputs.clear()
        elif call is calls.REBOOT:
            self.kept = self.counters = b""
            self._begin(b"")

    def inferred(self, key: bytes, of: int, count: int = 1, *, profiled: bool = False) -> None:
        """``count`` inferences ran; the last was the answer ``of`` of the key."""
        if self.stateful:
            for _ in range(count):
                self.history = digest(self.history, self._inputs())
        self.ran = True
        self.outputs = Place(digest(key, self.history), of)
        if profiled:
            self.layers = Place(key, of)

    def _begin(self, set_up: bytes) -> None:
        self.set_up = set_up
        self.ran = False
        self.history = self.whole_input = b""
        self.inputs.clear()

    def _written(self, request: bytes) -> None:
        """Pieces of an input come in order; the first of them begins it anew."""
        index, offset = request[:4], request[4:_INDEX_AND_OFFSET]
        before = self.inputs.get(index, b"") if any(offset) else b""
        self.inputs[index] = digest(before, request)

    def _conditions(self) -> bytes:
        return digest(self.set_up, bytes([self.clock]))

    def _inputs(self, request: bytes = b"") -> bytes:
        """The inputs of the next inference: those of its request, else what was written."""
        if len(request) > 4:
            return digest(digest(request))
        written = (part for index in sorted(self.inputs) for part in (index, self.inputs[index]))
        # Inputs that were all written leave nothing of those that came with an inference before.
        before = b"" if len(self.inputs) == self.input_count else self.whole_input
        return digest(before, *written)
