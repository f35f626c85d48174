"""What the outputs of board and PC say: plain figures, of which the cause is judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.reference import metrics
from pytest_autodeploy.reference.agreement import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model

    Arrays = Sequence[NDArray[Any]]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gap:
    """How far two sides are apart: the largest ``distance``, and whether it is ``within`` limits.

    ``exact``: not one element differs, in no output.
    """

    distance: float
    within: bool
    exact: bool


@dataclass(frozen=True)
class Repeats:
    """The board against itself: ``count`` repeats, and the elements that were ever different.

    ``same_again``: the repeats agree among themselves, only the first run was different.
    """

    count: int
    elements: int
    inferences: tuple[int, ...]
    same_again: bool


@dataclass(frozen=True)
class Evidence:
    """What is known of inferences that failed.

    ``gaps``: the board against each side of the PC, LiteRT's kernels and TFLM. ``counting``:
    the paths that the test counts. ``spread``: the largest distance between two ``apart`` paths;
    ``spread_covers``: in each failed inference it is at least the board's own. ``tflm_passes``:
    whether outputs of TFLM on the PC would have passed the test.
    ``exact_expected``: the board runs the very kernels of TFLM on the PC. ``missing``: sides that
    could not be asked, and why.
    """

    unit: Unit
    gaps: Mapping[str, Gap]
    counting: tuple[str, ...]
    spread: float = 0.0
    apart: tuple[str, ...] = ()
    spread_covers: bool = False
    tflm_passes: bool = False
    repeats: Repeats | None = None
    exact_expected: bool = False
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def tflm(self) -> Gap | None:
        """The board against TFLM on the PC."""
        return self.gaps.get(TFLM_PATH)

    @property
    def paths(self) -> dict[str, Gap]:
        """The board against LiteRT's sets of kernels."""
        return {path: gap for path, gap in self.gaps.items() if path != TFLM_PATH}

    @property
    def unstable(self) -> bool:
        """Whether the board disagrees with itself."""
        return bool(self.repeats and self.repeats.elements)

    @property
    def distance(self) -> float:
        """How far the board is from the nearest path that counts."""
        return min(self.gaps[path].distance for path in self.counting)

    @property
    def agreeing(self) -> tuple[str, ...]:
        """The paths that do not count and that the board agrees with, the nearest first."""
        others = [p for p, gap in self.paths.items() if gap.within and p not in self.counting]
        return tuple(sorted(others, key=lambda path: self.gaps[path].distance))


def gather(
    model: Model,
    board: Arrays,
    by_side: Mapping[str, Arrays],
    tolerance: Tolerance,
    *,
    counting: Sequence[str],
    repeats: Sequence[Arrays] = (),
    exact_expected: bool = False,
    missing: Mapping[str, str] | None = None,
) -> Evidence:
    """The figures of outputs: one array (n, *tensor shape) per output, for the board and each side.

    ``by_side``: by set of kernels, and ``tflm``; ``repeats``: further outputs of the board for the
    same inputs.
    """
    held = {side: held_against(model, board, pc, tolerance) for side, pc in by_side.items()}
    paths = {side: outputs for side, outputs in by_side.items() if side != TFLM_PATH}
    spread, apart = _spread(model, paths)
    tflm = by_side.get(TFLM_PATH)
    return Evidence(
        unit=_unit(model),
        gaps={side: each.gap() for side, each in held.items()},
        counting=tuple(counting),
        spread=float(spread.max()),
        apart=apart,
        spread_covers=_covers([held[path] for path in counting], spread),
        tflm_passes=tflm is not None
        and _pass([held_against(model, tflm, paths[path], tolerance) for path in counting]),
        repeats=_repeats(board, repeats) if repeats else None,
        exact_expected=exact_expected and tflm is not None,
        missing=dict(missing or {}),
    )


@dataclass(frozen=True)
class Held:
    """Outputs held against others: per inference the largest distance, and share of its limit."""

    distances: Floats
    shares: Floats
    exact: bool

    def gap(self) -> Gap:
        return Gap(float(self.distances.max()), bool((self.shares <= 1).all()), self.exact)


def held_against(model: Model, one: Arrays, other: Arrays, tolerance: Tolerance) -> Held:
    """Outputs held against others, inference by inference."""
    shares = []
    exact = True
    for tensor, a, b in zip(model.outputs, one, other, strict=True):
        apart = metrics.distances(a, b)
        exact = exact and not apart.any()
        limit = metrics.limits(tensor, b, tolerance)
        judged = metrics.judged(tensor, apart, tolerance)
        shares.append(_worst(metrics.shares_of_limit(judged, limit)))
    return Held(_distances(model, one, other), np.max(shares, axis=0), exact)


def _unit(model: Model) -> Unit:
    return "real" if all("float" in tensor.dtype for tensor in model.outputs) else "steps"


def _distances(model: Model, one: Arrays, other: Arrays) -> Floats:
    """Per inference the largest distance over the outputs whose unit counts."""
    in_steps = _unit(model) == "steps"
    apart = [
        _worst(metrics.distances(a, b))
        for tensor, a, b in zip(model.outputs, one, other, strict=True)
        if in_steps != ("float" in tensor.dtype)
    ]
    worst: Floats = np.max(apart, axis=0)
    return worst


def _worst(values: Floats) -> Floats:
    size = math.prod(values.shape[1:])
    worst: Floats = values.reshape(len(values), size).max(axis=1, initial=0)
    return worst


def _spread(model: Model, paths: Mapping[str, Arrays]) -> tuple[Floats, tuple[str, ...]]:
    """Per inference the largest distance between two paths, and the two that are farthest apart."""
    spread: Floats = np.zeros(len(next(iter(paths.values()))[0]))
    apart: tuple[str, ...] = ()
    for one, other in combinations(paths, 2):
        distances = _distances(model, paths[one], paths[other])
        if distances.max() > spread.max():
            apart = (one, other)
        spread = np.maximum(spread, distances)
    return spread, apart


def _pass(held: Sequence[Held]) -> bool:
    return bool((np.min([each.shares for each in held], axis=0) <= 1).all())


def _covers(held: Sequence[Held], spread: Floats) -> bool:
    """Whether the paths are as far apart as the board is off, wherever it failed."""
    failed = np.min([each.shares for each in held], axis=0) > 1
    own = np.min([each.distances for each in held], axis=0)
    return bool(failed.any() and (np.isfinite(own) & (spread >= own))[failed].all())


def _repeats(first: Arrays, repeats: Sequence[Arrays]) -> Repeats:
    different = [
        np.any([metrics.distances(a, again[number]) > 0 for again in repeats], axis=0)
        for number, a in enumerate(first)
    ]
    inferences = np.flatnonzero(np.any([d.reshape(len(d), -1).any(axis=1) for d in different], 0))
    same_again = all(
        not metrics.distances(a, b).any()
        for again in repeats[1:]
        for a, b in zip(repeats[0], again, strict=True)
    )
    return Repeats(
        count=len(repeats),
        elements=sum(int(np.count_nonzero(each)) for each in different),
        inferences=tuple(int(number) for number in inferences),
        same_again=same_again and len(repeats) > 1,
    )
