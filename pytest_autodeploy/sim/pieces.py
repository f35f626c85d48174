"""A model in pieces, so that something can happen between two of its operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.service import Log, Refused
from pytest_autodeploy.sim.tflm import DTYPES, Tflm

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model, Operator, Tensor
    from pytest_autodeploy.sim.operator_fault import OperatorFault
    from pytest_autodeploy.sim.tflm import Array

SPARE_BYTES = 64 * 1024
"""What the arena of a piece has above that of the model, which decides what fits the board."""


def main_operators(model: Model) -> list[Operator]:
    """The operators of the main subgraph."""
    return [operator for operator in model.operators if operator.subgraph == 0]


def readable(model: Model) -> dict[int, Tensor]:
    """The tensors of the main subgraph that TFLM has memory for and whose type it gives out."""
    operators = main_operators(model)
    mentioned = chain(
        model.inputs,
        model.outputs,
        *(chain(operator.inputs, operator.outputs) for operator in operators),
        (tensor for tensor in model.tensors if tensor.subgraph == 0 and tensor.constant),
    )
    return {tensor.index: tensor for tensor in mentioned if tensor and tensor.dtype in DTYPES}


@dataclass(frozen=True)
class Piece:
    """Some operators as a model of their own, and what befalls the outputs of its last one."""

    model: Model
    faults: tuple[OperatorFault, ...]

    @property
    def spoiled(self) -> tuple[Tensor, ...]:
        """The tensors that the faults change."""
        return main_operators(self.model)[-1].outputs if self.faults else ()


def faults_of(model: Model, faults: Sequence[OperatorFault], log: Log) -> list[OperatorFault]:
    """The faults of operators that the model has; the others have no effect, and the log says so.

    A part of a model that ends before a wrong operator is right.
    """
    count = len(main_operators(model))
    placed = [_placed(model, fault) for fault in faults]
    for fault in placed:
        note = "" if fault.operator < count else f", without effect: there are {count} operators"
        log.write(f"injected fault: {fault}{note}")
    return [fault for fault in placed if fault.operator < count]


def _placed(model: Model, fault: OperatorFault) -> OperatorFault:
    """A fault with the position of its operator; behind the last one where there is none."""
    if not fault.name:
        return fault
    names = [operator.name for operator in main_operators(model)]
    return replace(fault, operator=(names.index(fault.name) if fault.name in names else len(names)))


def cut_behind(model: Model, faults: Sequence[OperatorFault]) -> tuple[Piece, ...]:
    """The model cut behind every operator with a fault. Raises Refused when it cannot be."""
    last = len(main_operators(model)) - 1
    for fault in faults:
        _check(fault, main_operators(model))
    ends = sorted({fault.operator for fault in faults} | {last})
    starts = [0, *(end + 1 for end in ends)]
    try:
        return tuple(
            Piece(
                cut_model(model, start, end),
                tuple(fault for fault in faults if fault.operator == end),
            )
            for start, end in zip(starts, ends, strict=False)
        )
    except ModelError as error:
        text = ", ".join(map(str, faults))
        raise Refused(Status.UNSUPPORTED, f"fault {text}: {error.what}") from None


def _check(fault: OperatorFault, operators: Sequence[Operator]) -> None:
    operator = operators[fault.operator]
    if not any(fault.can_change(tensor.dtype) for tensor in operator.outputs):
        text = f"fault {fault}: {operator.name} makes nothing that can be changed so"
        raise Refused(Status.UNSUPPORTED, text)


class Pieces:
    """Runs the pieces of a model one after the other, and the faults between them."""

    def __init__(
        self, model: Model, pieces: Sequence[Piece], arena_bytes: int, *, keep: bool
    ) -> None:
        self._model = model
        self._pieces = [
            (piece, Tflm(piece.model, arena_bytes + SPARE_BYTES, keep=keep)) for piece in pieces
        ]
        self._keep = keep
        self._values: dict[int, Array] = {}

    def run(self, inputs: Sequence[Array]) -> None:
        """One inference."""
        indices = (tensor.index for tensor in self._model.inputs)
        self._values = dict(zip(indices, inputs, strict=True))
        for piece, tflm in self._pieces:
            self._run(piece, tflm)

    def _run(self, piece: Piece, tflm: Tflm) -> None:
        values = self._values
        tflm.run([values[tensor.index] for tensor in piece.model.inputs])
        made = {t.index: tflm.output(at) for at, t in enumerate(piece.model.outputs)}
        if self._keep:
            made = {index: tflm.tensor(index) for index in readable(piece.model)} | made
        values.update(made)
        for fault in piece.faults:
            for tensor in piece.spoiled:
                if tensor.index in values and fault.can_change(tensor.dtype):
                    values[tensor.index] = fault.spoil(values[tensor.index])

    def output(self, index: int) -> Array:
        """An output of the latest inference."""
        return self._values[self._model.outputs[index].index]

    def tensor(self, index: int) -> Array:
        """A kept tensor of the main subgraph that is not constant."""
        return self._values[index]

    def reset(self) -> None:
        """Variables and states as before the first inference, but for CALL_ONCE."""
        for _, tflm in self._pieces:
            tflm.reset()
