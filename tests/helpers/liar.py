"""A board that answers wrongly: ``python -m tests.helpers.liar LIE``, then the simulator's own.

The board is the simulated one, a real process with TFLM; only what it says is another thing.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_autodeploy.rpc.messages import Identity, Inference, LayerRecord
from pytest_autodeploy.rpc.service import Validator
from pytest_autodeploy.sim.__main__ import main
from pytest_autodeploy.sim.faults import Faults


class Honest:
    """What a lie is made of: every call goes to the board's validator."""

    def __init__(self, validator: Validator) -> None:
        self.validator = validator
        self.written = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.validator, name)

    def infer(self, inputs: bytes) -> Inference:
        inference = self.validator.infer(self.heard(inputs))
        return dataclasses.replace(inference, outputs=self.said(inference.outputs))

    def heard(self, inputs: bytes) -> bytes:
        """The inputs that are computed with."""
        return inputs

    def said(self, outputs: bytes) -> bytes:
        """The outputs that are told."""
        return outputs


class Corrupt(Honest):
    def said(self, outputs: bytes) -> bytes:
        return bytes(byte ^ 0x40 for byte in outputs)


class OneValue(Honest):
    """Of the last element alone, and by the least that is over a tolerance of one step."""

    def said(self, outputs: bytes) -> bytes:
        return outputs[:-1] + bytes([(outputs[-1] + (2 if outputs[-1] != 0x7F else -2)) & 0xFF])


class Reversed(Honest):
    def said(self, outputs: bytes) -> bytes:
        return outputs[::-1]


class HalfAnswer(Honest):
    def said(self, outputs: bytes) -> bytes:
        return outputs[: len(outputs) // 2] + bytes(len(outputs) - len(outputs) // 2)


class Late(Honest):
    """The answer to the question before."""

    before = b""

    def said(self, outputs: bytes) -> bytes:
        told, self.before = self.before or outputs, outputs
        return told


class Deaf(Honest):
    def heard(self, inputs: bytes) -> bytes:
        return bytes(len(inputs))


class HardOfHearing(Honest):
    """The end of the input is lost."""

    def heard(self, inputs: bytes) -> bytes:
        kept = len(inputs) * 3 // 4
        return inputs[:kept] + bytes(len(inputs) - kept)


class Stuck(Honest):
    """The first answer again, whatever is asked."""

    first = b""

    def said(self, outputs: bytes) -> bytes:
        self.first = self.first or outputs
        return self.first


class Rarely(Corrupt):
    """Wrong for one input of ten."""

    count = 0

    def said(self, outputs: bytes) -> bytes:
        self.count += 1
        return super().said(outputs) if self.count % 10 == 7 else outputs


class OtherModel(Honest):
    def identify(self) -> Identity:
        identity = self.validator.identify()
        other = bytes(byte ^ 0xFF for byte in identity.model_sha256)
        return dataclasses.replace(identity, model_sha256=other)


class OtherLayers(Honest):
    """The profile of a model with one layer less."""

    def read_layers(self, first: int, count: int) -> tuple[int, Sequence[LayerRecord]]:
        total, records = self.validator.read_layers(first, count)
        return total - 1, records[: max(0, total - 1 - first)]


HONEST = "honest"
LIES: Mapping[str, type[Honest]] = {
    HONEST: Honest,
    "corrupt": Corrupt,
    "one-value": OneValue,
    "reversed": Reversed,
    "half-answer": HalfAnswer,
    "late": Late,
    "deaf": Deaf,
    "hard-of-hearing": HardOfHearing,
    "stuck": Stuck,
    "rarely": Rarely,
    "other-model": OtherModel,
    "other-layers": OtherLayers,
}


class _Liar(Faults):
    lie: type[Honest]

    def spoil(self, validator: Validator) -> Validator:
        """The same liar for all calls: it remembers what it said."""
        if not hasattr(self, "_liar"):
            self._liar = self.lie(validator)
        self._liar.validator = validator
        return self._liar


if __name__ == "__main__":
    import pytest_autodeploy.sim.__main__ as simulator

    _Liar.lie = LIES[sys.argv[1]]
    setattr(simulator, "Faults", _Liar)  # noqa: B010  # the name is an import of that module
    sys.exit(main(sys.argv[2:]))
