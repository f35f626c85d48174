"""The smallest part of a data set that notices what all of it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.progress import silent
from pytest_autodeploy.diagnosis.sensitivity.cover import fewest
from pytest_autodeploy.diagnosis.sensitivity.trials import Probing
from pytest_autodeploy.limits.sensitivity import CHANGES
from pytest_autodeploy.sim.pieces import main_operators

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.diagnosis.sensitivity.search import Thing
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import OperatorSensitivity
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.reference.runner import Outputs

MOST_BYTES = 256 << 20
"""What the tensors of the samples that are looked at together may take."""


@dataclass(frozen=True)
class Selection:
    """The ``numbers`` of samples that notice all that is noticed: ``noticed`` of ``things``.

    A thing is an operator, a change and a channel. ``smallest``: no smaller part does; of a model
    that carries its state the part is the beginning. ``unknown`` are operators of which it could
    not be found out.
    """

    numbers: tuple[int, ...]
    of: int
    noticed: int
    things: int
    smallest: bool
    unknown: tuple[OperatorSensitivity, ...]


def select(
    model: Model,
    inputs: Inputs,
    run_pc: Callable[[Inputs], Outputs],
    tolerance: Tolerance,
    *,
    reset_each: bool,
    seconds: float,
    progress: Progress = silent,
) -> Selection:
    """Look at every sample, and choose the fewest that notice what all do.

    Of a model that carries state from one inference to the next, the shortest beginning. After
    ``seconds`` the rest is unknown. Raises MissingExtra without TFLM, and ReferenceFailed.
    """
    carried = model.stateful and not reset_each
    by: dict[Thing, set[int]] = {}
    unknown: dict[int, OperatorSensitivity] = {}
    with Probing(model, tolerance, reset_each=reset_each, seconds=seconds) as probing:
        for first, part in _parts(model, inputs, whole=carried):
            probing.take(part, run_pc(part))
            for position in reversed(range(len(main_operators(model)))):
                operator = probing.operator(position, CHANGES, each=not carried)
                if operator.unknown:
                    unknown[position] = operator
                for change, noticed in operator.changes.items():
                    for variant, inferences in enumerate(noticed.by):
                        seen = by.setdefault((position, change, variant), set())
                        seen |= {first + inference for inference in inferences}
            progress("sample:", first + part.count, inputs.count)
    numbers, smallest = _chosen(by, carried=carried)
    return Selection(
        numbers=tuple(numbers or [0]),  # a file of no samples is none
        of=inputs.count,
        noticed=sum(1 for inferences in by.values() if inferences),
        things=len(by),
        smallest=smallest and not unknown,
        unknown=tuple(unknown[position] for position in sorted(unknown)),
    )


def pick(inputs: Inputs, numbers: tuple[int, ...]) -> Inputs:
    """Some samples, in this order."""
    return replace(inputs, arrays=tuple(array[list(numbers)] for array in inputs.arrays))


def _chosen(by: dict[Thing, set[int]], *, carried: bool) -> tuple[list[int], bool]:
    if carried:
        return list(range(1 + max((min(seen) for seen in by.values() if seen), default=0))), True
    return fewest({thing: frozenset(seen) for thing, seen in by.items()})


def _parts(model: Model, inputs: Inputs, *, whole: bool) -> Iterator[tuple[int, Inputs]]:
    """The samples in parts whose tensors fit into memory, each with the number of its first."""
    each = sum(t.bytes for operator in main_operators(model) for t in operator.outputs)
    size = inputs.count if whole else max(1, MOST_BYTES // max(1, each))
    for first in range(0, inputs.count, size):
        arrays = tuple(array[first : first + size] for array in inputs.arrays)
        yield first, replace(inputs, arrays=arrays)
