"""Which inferences are looked at again: those that failed, and what they need to come out alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.reference.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.measured import RunResult

MOST = 8
"""Inferences of a model without state that are run again."""

MOST_CARRIED = 64
"""Inferences of a run with carried state that are run again, when none failed later."""


@dataclass(frozen=True)
class Chosen:
    """Inferences of a run: their ``numbers`` in it, their inputs, and what the board gave.

    ``focus`` are the inputs up to the one inference, number ``focus_number``, whose operators are
    compared: that one alone, or where a state is carried all before it too.
    """

    numbers: tuple[int, ...]
    inputs: Inputs
    outputs: tuple[NDArray[Any], ...]
    focus: Inputs
    focus_number: int

    @property
    def text(self) -> str:
        """Which inferences these are: their figures may be smaller than those of the whole run."""
        first, last = self.numbers[0], self.numbers[-1]
        if len(self.numbers) > MOST:
            return f"looked at again: inferences {first} to {last}"
        plural = "" if first == last else "s"
        return f"looked at again: inference{plural} {', '.join(map(str, self.numbers))}"

    @property
    def focus_outputs(self) -> tuple[NDArray[Any], ...]:
        """What the board gave in that inference, arrays (1, *tensor shape)."""
        at = self.numbers.index(self.focus_number)
        return tuple(output[at : at + 1] for output in self.outputs)


def choose(model: Model, run: RunResult, agreement: Agreement) -> Chosen:
    """The worst inference and others that failed; where a state is carried the whole run.

    Of a run without a failure the first inference; of a long one with state, what comes up to its
    first failure at least.
    """
    worst = agreement.worst.inference if agreement.worst else 0
    first = agreement.failed_inferences[0] if agreement.failed_inferences else worst
    if not model.stateful or run.reset_each:
        failed = [number for number in agreement.failed_inferences if number != worst]
        numbers = tuple(sorted([worst, *failed[: MOST - 1]]))
        return _chosen(run.inputs, run.outputs, numbers, (worst,))
    last = max(first, min(run.inputs.count, MOST_CARRIED) - 1)
    return _chosen(run.inputs, run.outputs, tuple(range(last + 1)), tuple(range(first + 1)))


def refocus(chosen: Chosen, number: int) -> Chosen:
    """The same run with state, with the operators of another inference to be compared."""
    focus = tuple(range(number + 1))
    return replace(chosen, focus=_pick(chosen.inputs, focus), focus_number=number)


def _chosen(
    inputs: Inputs,
    outputs: Sequence[NDArray[Any]],
    numbers: tuple[int, ...],
    focus: tuple[int, ...],
) -> Chosen:
    return Chosen(
        numbers,
        _pick(inputs, numbers),
        tuple(output[list(numbers)] for output in outputs),
        _pick(inputs, focus),
        focus[-1],
    )


def _pick(inputs: Inputs, numbers: Sequence[int]) -> Inputs:
    arrays = tuple(array[list(numbers)] for array in inputs.arrays)
    return Inputs(arrays, inputs.origin, inputs.seed)
