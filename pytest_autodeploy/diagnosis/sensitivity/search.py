"""Inputs that notice more than random ones: found by seed, within a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.progress import silent
from pytest_autodeploy.diagnosis.sensitivity.candidates import (
    FAMILIES,
    RANDOM,
    SAMPLE,
    Name,
    candidates,
)
from pytest_autodeploy.diagnosis.sensitivity.cover import greedy
from pytest_autodeploy.diagnosis.sensitivity.trials import Probing
from pytest_autodeploy.limits.sensitivity import CHANGES
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.sim.pieces import main_operators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.runner import Outputs

    Array = NDArray[Any]

Thing = tuple[int, str, int]
"""What can be noticed: a position, a change, and the number of its variant."""

DRAWN = 16
"""Candidates of each family that the PC computes the outputs of, which costs little."""

TRIED = 4
"""Of each family the ones that are tried: those whose outputs are farthest from saturation."""

SAMPLES = 256
"""Samples of a data set that are looked at; TRIED times as many as of a family are tried."""


@dataclass(frozen=True)
class Recipe:
    """What the inputs are made of, so that they can be made again anywhere.

    ``names`` are those of the candidates. ``tried`` of ``planned`` candidates were tried before the
    time was over. ``noticed`` of ``things`` (an operator, a change, a channel) are noticed at
    least; ``before`` are those that the random inputs notice.
    """

    names: tuple[Name, ...]
    tried: int
    planned: int
    noticed: int
    before: int
    things: int

    @property
    def complete(self) -> bool:
        """Whether the time was enough, so that the same is found everywhere."""
        return self.tried == self.planned

    def origin(self, seed: int) -> str:
        """What reports call such inputs."""
        cut = "" if self.complete else f", cut short after {self.tried} of {self.planned} tries"
        return f"searched, seed {seed}{cut}"


@dataclass(frozen=True)
class KeptRecipe:
    """A recipe as it is kept, with the hash of the inputs that it made."""

    recipe: Recipe
    inputs_sha256: str


def made(model: Model, recipe: Recipe, seed: int, samples: Inputs | None = None) -> Inputs:
    """The inputs of a recipe."""
    arrays = candidates(model, recipe.names, seed, samples.arrays if samples else ())
    return Inputs(arrays, recipe.origin(seed), seed)


def search(
    model: Model,
    count: int,
    seed: int,
    run_pc: Callable[[Inputs], Outputs],
    tolerance: Tolerance,
    *,
    samples: Inputs | None = None,
    seconds: float,
    progress: Progress = silent,
) -> Recipe:
    """Find ``count`` inputs that notice most, the most telling first; it ends after ``seconds``.

    The random inputs of the seed come first; then those of each family, and of the ``samples``,
    whose outputs are least saturated are tried on what was not noticed so far. What is left of
    ``count`` are random inputs again. A model with state is looked at from a fresh one each time.

    Raises MissingExtra without TFLM, and ReferenceFailed.
    """
    given = samples.arrays if samples else ()

    def inputs_of(names: Sequence[Name]) -> Inputs:
        return Inputs(candidates(model, names, seed, given), "candidates")

    with Probing(model, tolerance, reset_each=True, seconds=seconds) as probing:
        noticing = _Noticing(model, probing)
        usual = [(RANDOM, number) for number in range(count)]
        plan = _plan(model, usual, inputs_of, run_pc, samples)
        for done, names in enumerate(plan, 1):
            inputs = inputs_of(names)
            if not noticing.add(names, inputs, run_pc(inputs)):
                break
            progress("inputs tried:", done, len(plan))
    return noticing.recipe(usual, sum(map(len, plan)), count)


class _Noticing:
    """What was noticed so far, and by which candidates."""

    def __init__(self, model: Model, probing: Probing) -> None:
        self._body = main_operators(model)
        self._probing = probing
        self._names: list[Name] = []
        self._by: dict[Thing, set[int]] = {}
        self._unknown: set[int] = set()

    def add(self, names: Sequence[Name], inputs: Inputs, by_path: Outputs) -> bool:
        """Try some candidates on all that is not noticed yet; False when the time was over."""
        if self._probing.over:
            return False
        self._probing.take(inputs, by_path)
        first = len(self._names)
        open_ = {position: self._open(position) for position in range(len(self._body))}
        found = {}
        for position, changes in reversed(open_.items()):
            if not changes or position in self._unknown:
                continue
            operator = self._probing.operator(position, changes, each=True)
            if self._probing.over:
                return False  # the same inputs must be found again: half a batch is none
            if operator.unknown:
                self._unknown.add(position)
            found[position] = operator
        for position, operator in found.items():
            for change, noticed in operator.changes.items():
                for variant, inferences in enumerate(noticed.by):
                    by = self._by.setdefault((position, change, variant), set())
                    by |= {first + inference for inference in inferences}
        self._names += names
        return True

    def _open(self, position: int) -> list[str]:
        """The changes of an operator of which a variant is not noticed yet; at first all."""
        if not self._names:
            return [*CHANGES]
        things = [(change, by) for (at, change, _), by in self._by.items() if at == position]
        return [change for change in CHANGES if any(c == change and not by for c, by in things)]

    def recipe(self, usual: Sequence[Name], planned: int, count: int) -> Recipe:
        """The fewest candidates that notice most, and random inputs behind them."""
        chosen = greedy({thing: frozenset(by) for thing, by in self._by.items()})[:count]
        names = [self._names[number] for number in chosen]
        names += [name for name in usual if name not in names][: count - len(names)]
        kept = {number for number, name in enumerate(self._names) if name in names}
        random = {number for number, name in enumerate(self._names) if name in usual}
        return Recipe(
            names=tuple(names),
            tried=len(self._names),
            planned=planned,
            noticed=self._count(kept),
            before=self._count(random),
            things=len(self._by),
        )

    def _count(self, numbers: set[int]) -> int:
        return sum(1 for by in self._by.values() if by & numbers)


def _plan(
    model: Model,
    usual: Sequence[Name],
    inputs_of: Callable[[Sequence[Name]], Inputs],
    run_pc: Callable[[Inputs], Outputs],
    samples: Inputs | None,
) -> list[list[Name]]:
    """The candidates in batches: random ones, the best of all families, the next, and so on."""
    families: dict[str, list[Name]] = {
        family: [(family, number) for number in range(DRAWN)] for family in FAMILIES
    }
    if samples is not None:
        families[SAMPLE] = [(SAMPLE, number) for number in range(min(samples.count, SAMPLES))]
    ranked = [_rank(model, names, inputs_of, run_pc) for names in families.values()]
    batches = zip_longest(*ranked)
    return [[*usual], *([name for name in batch if name] for batch in batches)]


def _rank(
    model: Model,
    names: Sequence[Name],
    inputs_of: Callable[[Sequence[Name]], Inputs],
    run_pc: Callable[[Inputs], Outputs],
) -> list[Name]:
    """Those of one family whose outputs are farthest from the ends of their range, best first."""
    outputs = next(iter(run_pc(inputs_of(names)).values()))
    room = [0.0] * len(names)
    for tensor, values in zip(model.outputs, outputs, strict=True):
        room = [a + b for a, b in zip(room, _room(tensor.dtype, values), strict=True)]
    best = sorted(range(len(names)), key=lambda number: (-room[number], number))
    most = TRIED * TRIED if names[0][0] == SAMPLE else TRIED
    return [names[number] for number in best[:most]]


def _room(dtype: str, values: Array) -> list[float]:
    """How far the elements of each inference are from the ends of their type, 0 to 1 on average.

    Floats have no ends: there the order stays.
    """
    import numpy as np

    if not values.size or values.dtype.kind not in "iu" or dtype == "bool":
        return [0.0] * len(values)
    ends = np.iinfo(values.dtype)
    wide = values.astype(np.float64)
    room = np.minimum(wide - ends.min, ends.max - wide) / (float(ends.max) - float(ends.min))
    return [float(each.mean()) for each in room]
