"""The board's side: it repeats, it lets its tensors be read, it runs the first operators only."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.errors import AutodeployError, BoardError, BoardRefused, ModelError
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.diagnosis.layers import main_operators
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.rpc.messages import Capability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Tensor
    from pytest_autodeploy.session.model_session import ModelSession

    Arrays = tuple[NDArray[Any], ...]
    Values = dict[int, NDArray[Any]]


class CannotKeep(AutodeployError):
    """The board cannot keep its tensors readable: no such capability, or too small an arena."""


@dataclass(frozen=True)
class Kept:
    """An inference whose tensors were kept: outputs, and values (1, *shape) by tensor index.

    ``complete`` is False when the time was over before every tensor was read.
    """

    outputs: Arrays
    values: Values
    complete: bool


def repeated(session: ModelSession, inputs: Inputs, times: int) -> list[Arrays]:
    """The outputs of the same inferences again, each time from a state that is set up anew."""
    return [session.sibling(session.model, inputs).run(inputs).outputs for _ in range(times)]


def kept_tensors(session: ModelSession, inputs: Inputs, until: float) -> Kept:
    """Run the inputs with kept tensors, and read those of the last inference in execution order.

    Reading stops when ``until`` (of ``time.monotonic``) has passed. Raises CannotKeep, BoardError.
    """
    if Capability.ANY_TENSOR not in session.identity.capabilities:
        raise CannotKeep("the board cannot keep its tensors")
    own = session.sibling(session.model, inputs)
    try:
        outputs = _run_keeping(own, inputs)
        values, complete = _read(own, until)
    finally:
        with suppress(BoardError), own.calls():
            own.board.client.keep_tensors(False)
            own.board.client.configure()
    return Kept(outputs, values, complete)


def _run_keeping(own: ModelSession, inputs: Inputs) -> Arrays:
    """Run in the arena of the session; when that is too small, in the largest that there is."""
    try:
        return _run(own, inputs)
    except BoardRefused as refused:
        if refused.status != "NO_MEMORY":
            raise
    own.prepare(inputs, clock=own.clock)
    try:
        return _run(own, inputs)
    except BoardRefused as refused:
        what = f"the largest arena cannot hold every tensor: {one_line(refused.what)}"
        raise CannotKeep(what) from None


def _run(own: ModelSession, inputs: Inputs) -> Arrays:
    own.ensure()
    with own.calls():
        own.board.client.keep_tensors(True)
    return own.run(inputs).outputs


def _read(own: ModelSession, until: float) -> tuple[Values, bool]:
    values: Values = {}
    for tensor in _readable(own.model):
        if time.monotonic() > until:
            return values, False
        with own.calls():
            size = own.board.client.describe_tensor(tensor.index).size_bytes
            if size != tensor.bytes:
                continue
            data = own.board.client.read_tensor(tensor.index, size)
        values[tensor.index] = np.frombuffer(data, tensor.dtype).reshape((1, *tensor.shape))
    return values, True


def _readable(model: Model) -> list[Tensor]:
    """The inputs of the model and what its operators make, in order, as far as numpy has them."""
    made = [tensor for operator in main_operators(model) for tensor in operator.outputs]
    tensors = dict.fromkeys((*model.inputs, *made))
    return [tensor for tensor in tensors if tensor.bytes and _in_numpy(tensor.dtype)]


def _in_numpy(dtype: str) -> bool:
    try:
        return np.dtype(dtype).kind in "biuf"
    except TypeError:
        return False


class Prefixes:
    """Runs the first operators of the model as models of their own; ``runs`` counts them."""

    def __init__(self, session: ModelSession, inputs: Inputs) -> None:
        self._session = session
        self._inputs = inputs
        self.runs = 0
        self.refusals: list[str] = []

    def after(self, position: int) -> Values | None:
        """What the board has after the operator: the tensors that are needed later, and its own.

        None when the model cannot be cut there, or the board has no room for that part. Raises
        BoardError.
        """
        try:
            part = cut_model(self._session.model, 0, position)
            self.runs += 1
            outputs = self._session.sibling(part, self._inputs).run(self._inputs).outputs
        except (ModelError, BoardRefused) as refusal:
            self.refusals.append(one_line(refusal.what))
            return None
        return {
            tensor.index: array[-1:] for tensor, array in zip(part.outputs, outputs, strict=True)
        }
