"""The board's outputs held against one path each, and the path that is nearest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.reference import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Tensor

    Floats = NDArray[np.float64]


def _size(values: NDArray[Any]) -> int:
    """Elements of one inference, of which there may be none."""
    return math.prod(values.shape[1:])


@dataclass(frozen=True)
class Side:
    """One output of all inferences, held against one path's, or against the nearest path's."""

    pc: NDArray[Any]
    apart: Floats  # stored units: steps or real
    limit: Floats
    share: Floats  # of the limit

    def worst_share(self) -> Floats:
        """The largest share of the limit in each inference."""
        return _per_inference(self.share)

    def worst_apart(self) -> Floats:
        """The largest distance in each inference."""
        return _per_inference(self.apart)

    def differing(self) -> NDArray[np.intp]:
        """How many elements differ in each inference."""
        count: NDArray[np.intp] = np.count_nonzero(
            self.apart.reshape(len(self.apart), _size(self.apart)), axis=1
        )
        return count


def side_of(tensor: Tensor, board: NDArray[Any], pc: NDArray[Any], tolerance: Tolerance) -> Side:
    """The distances of one output, and their shares of the tolerance's limits."""
    apart = metrics.distances(board, pc)
    limit = metrics.limits(tensor, pc, tolerance)
    share = metrics.shares_of_limit(metrics.judged(tensor, apart, tolerance), limit)
    if board.dtype.kind == "f" and tolerance.nan != "allow":
        share[~np.isfinite(board)] = np.inf
    return Side(pc, apart, limit, share)


def _per_inference(values: Floats) -> Floats:
    worst: Floats = values.reshape(len(values), _size(values)).max(axis=1, initial=0)
    return worst


def nearest_of(sides: Mapping[str, Sequence[Side]]) -> NDArray[np.intp]:
    """Per inference, the number of the candidate that is nearest jointly over all outputs."""
    shares = np.array([np.max([s.worst_share() for s in each], axis=0) for each in sides.values()])
    apart = np.array([np.max([s.worst_apart() for s in each], axis=0) for each in sides.values()])
    differing = np.array([np.sum([s.differing() for s in each], axis=0) for each in sides.values()])
    # lexsort is stable, so the earlier of equals is first; where no distance is allowed at all,
    # every share is infinite and the plain distance decides.
    order = np.lexsort((differing, apart, shares), axis=0)
    first: NDArray[np.intp] = order[0]
    return first


def assemble(sides: Sequence[Side], nearest: NDArray[np.intp]) -> Side:
    """The side of the nearest path of each inference."""
    if len(sides) == 1:
        return sides[0]
    inferences = np.arange(len(nearest))

    def pick(field: str) -> NDArray[Any]:
        picked: NDArray[Any] = np.empty_like(getattr(sides[0], field))
        for number, side in enumerate(sides):
            mine = inferences[nearest == number]
            picked[mine] = getattr(side, field)[mine]
        return picked

    return Side(pick("pc"), pick("apart"), pick("limit"), pick("share"))
