"""Whether a test would fail with these outputs: the judgement of output_tolerance, by inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.reference import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Tensor

    Arrays = Sequence[NDArray[Any]]


class Verdict:
    """Holds outputs of single inferences against those of every path of the PC.

    As ``reference.compare`` has it: an inference passes when it is within the tolerance of a path.
    ``clean`` are the outputs of the right model, arrays (n, *tensor shape). Where already they are
    beyond the tolerance of all paths, outputs are held against ``clean`` itself: else everything
    would seem to be noticed.
    """

    def __init__(
        self,
        tensors: Sequence[Tensor],
        by_path: Mapping[str, Arrays],
        clean: Arrays,
        tolerance: Tolerance,
    ) -> None:
        self._tensors = tensors
        self._tolerance = tolerance
        self._paths = {path: self._limit(outputs) for path, outputs in by_path.items()}
        self._clean = {TFLM_PATH: self._limit(clean)}
        self.doubtful = tuple(
            number
            for number in range(len(clean[0]))
            if self._beyond(self._paths, number, [array[number] for array in clean])
        )

    def notices(self, number: int, outputs: Arrays) -> bool:
        """Whether these outputs of inference ``number`` fail."""
        sides = self._clean if number in self.doubtful else self._paths
        return self._beyond(sides, number, outputs)

    def _limit(self, outputs: Arrays) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Each output with what it may be off: the limit may depend on all inferences."""
        return [
            (pc, metrics.limits(tensor, pc, self._tolerance))
            for tensor, pc in zip(self._tensors, outputs, strict=True)
        ]

    def _beyond(
        self,
        sides: Mapping[str, list[tuple[NDArray[Any], NDArray[Any]]]],
        number: int,
        outputs: Arrays,
    ) -> bool:
        one = slice(number, number + 1)
        return all(
            any(
                self._is_off(tensor, board[np.newaxis], pc[one], limit[one])
                for tensor, board, (pc, limit) in zip(self._tensors, outputs, side, strict=True)
            )
            for side in sides.values()
        )

    def _is_off(
        self, tensor: Tensor, board: NDArray[Any], pc: NDArray[Any], limit: NDArray[Any]
    ) -> bool:
        strict = board.dtype.kind == "f" and self._tolerance.nan != "allow"
        if strict and not np.isfinite(board).all():
            return True
        apart = metrics.judged(tensor, metrics.distances(board, pc), self._tolerance)
        return bool((metrics.shares_of_limit(apart, limit) > 1).any())
