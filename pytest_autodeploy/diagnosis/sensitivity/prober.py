"""A model whose operators are changed one by one: what arrives at its outputs.

Nothing before a changed operator is run again: TFLM runs the whole model once and keeps all
tensors; then the operators behind each one run as a model of their own. Only where a variable leads
from there back to operators before it, the whole model runs again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.diagnosis.sensitivity.changes import changeable, variants
from pytest_autodeploy.diagnosis.sensitivity.loop import Loop
from pytest_autodeploy.diagnosis.sensitivity.tail import Tail
from pytest_autodeploy.reference.interpreters import Tflm
from pytest_autodeploy.sim.pieces import main_operators, readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.diagnosis.sensitivity.verdict import Verdict
    from pytest_autodeploy.model.graph import Model

    Array = NDArray[Any]
    Values = dict[int, Array]

Found = dict[str, list[list[int]]]
"""Of each change and each of its variants, the inferences that notice it."""


class Prober:
    """Runs the ``inputs`` of a model, one array (n, *tensor shape) each, and changes operators.

    ``reset_each``: its state is reset before each inference. Raises what TFLM raises.
    """

    def __init__(self, model: Model, inputs: Sequence[Array], *, reset_each: bool) -> None:
        self._model = model
        self._reset_each = reset_each and model.stateful
        self._values = [*_clean(model, [*zip(*inputs, strict=True)], reset_each=self._reset_each)]

    @property
    def outputs(self) -> list[Array]:
        """What the right model gives, an array (n, *tensor shape) for each output."""
        import numpy as np

        return [
            np.stack([values[tensor.index] for values in self._values])
            for tensor in self._model.outputs
        ]

    def probe(
        self, position: int, changes: Sequence[str], verdict: Verdict, *, each: bool
    ) -> Found:
        """The inferences that notice each change of an operator; without ``each`` the first.

        Left out are changes that its outputs cannot have. Raises ModelError.
        """
        operator = main_operators(self._model)[position]
        possible = [change for change in changes if changeable(operator, change)]
        if not possible:
            return {}
        tail = self._behind(position)
        return {
            change: [
                [*self._noticing(tail, change, variant, verdict, each=each)]
                for variant in variants(change, changeable(operator, change)[0].shape)
            ]
            for change in possible
        }

    def _behind(self, position: int) -> Tail | Loop:
        """What follows an operator; where variables lead back from there, the whole model."""
        try:
            return Tail(self._model, position)
        except ModelError:
            if not self._model.resource_variables:
                raise
            return Loop(self._model, position, self._values[0])

    def _noticing(
        self, tail: Tail | Loop, change: str, variant: int | None, verdict: Verdict, *, each: bool
    ) -> Iterator[int]:
        for number, values in enumerate(self._values):
            if number == 0 or self._reset_each:
                tail.begin()
            if verdict.notices(number, tail.run(values, change, variant)):
                yield number
                if not each:
                    return


def _clean(
    model: Model, samples: Sequence[Sequence[Array]], *, reset_each: bool
) -> Iterator[Values]:
    """The values that operators of the main subgraph read or make, inference by inference."""
    known = readable(model)
    made = {t.index for operator in main_operators(model) for t in operator.outputs}
    runners: tuple[Tflm, Tflm] | None = None
    for sample in samples:
        if runners is None or reset_each:
            runners = Tflm(model.content, keep=True), Tflm(model.content)
        for runner in runners:
            runner.infer(sample)
        kept, plain = runners
        outputs = plain.outputs()
        if [array.tobytes() for array in kept.outputs()] != [a.tobytes() for a in outputs]:
            raise RuntimeError("TFLM's outputs change when its tensors are kept")
        yield (
            {index: kept.tensor(index) for index in made & known.keys()}
            | {tensor.index: array for tensor, array in zip(model.inputs, sample, strict=True)}
            | {tensor.index: array for tensor, array in zip(model.outputs, outputs, strict=True)}
        )
