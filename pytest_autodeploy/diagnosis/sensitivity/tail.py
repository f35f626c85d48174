"""The operators behind one of a model as a model of their own, which works on changed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.diagnosis.sensitivity.changes import changeable, changed
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.reference.interpreters import Tflm
from pytest_autodeploy.sim.pieces import main_operators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Operator, Tensor

    Array = NDArray[Any]
    Values = Mapping[int, Array]


class Tail:
    """What follows the operator at ``position`` of the main subgraph.

    Raises ModelError when it cannot be parted from what is before it.
    """

    def __init__(self, model: Model, position: int) -> None:
        body = main_operators(model)
        self._model = model
        self._operator = body[position]
        self._rest = _rest(model, body, position)
        self._runner: Tflm | None = None

    def begin(self) -> None:
        """Start from a fresh state."""
        if self._rest is not None and (self._runner is None or self._rest.stateful):
            self._runner = Tflm(self._rest.content)

    def run(self, values: Values, change: str, variant: int | None) -> list[Array]:
        """The outputs of the model when the operator gives something else; ``values`` stay."""
        now = dict(values)
        for tensor in changeable(self._operator, change):
            if tensor.index in now:
                now[tensor.index] = changed(change, now[tensor.index], variant)
        if self._rest is not None and self._runner is not None:
            self._runner.infer([_value(now, tensor) for tensor in self._rest.inputs])
            made = zip(self._rest.outputs, self._runner.outputs(), strict=True)
            now |= {tensor.index: array for tensor, array in made}
        return [now[tensor.index] for tensor in self._model.outputs]


def _rest(model: Model, body: Sequence[Operator], position: int) -> Model | None:
    """None when nothing follows, or nothing that an output needs."""
    after = [tensor for operator in body[position + 1 :] for tensor in operator.outputs]
    if not model.stateful and not any(tensor in after for tensor in model.outputs):
        return None
    return cut_model(model, position + 1) if position + 1 < len(body) else None


def _value(values: Values, tensor: Tensor) -> Array:
    try:
        return values[tensor.index]
    except KeyError:
        raise ModelError(
            f"tensor {tensor.name!r} is {tensor.dtype}, which cannot be handed on"
        ) from None
