"""The board held against the PC on data with labels: the drop, and the decisions that changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.measurement import Better, Measurement, Source
from pytest_autodeploy.session.labelled import LabelledRun, Side

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TaskComparison:
    """How accurate the board and each set of kernels of the PC are on the same samples.

    ``reference`` is the path that the board is held against: the one whose decisions (real values)
    are the nearest to the board's, of equals the earlier of ref, optimized, xnnpack. ``against`` is
    the file name of the model that the PC ran when it was another one. ``source`` is the board's.
    """

    run: LabelledRun
    by_path: Mapping[str, Side]
    reference: str
    source: Source
    failed_paths: Mapping[str, str]
    against: str = ""

    @property
    def board(self) -> Side:
        """The board's side."""
        return self.run.board

    @property
    def pc(self) -> Side:
        """The side of the path that the board is held against."""
        return self.by_path[self.reference]

    @property
    def count(self) -> int:
        """How many samples there are."""
        return len(self.run.labels.array)

    @property
    def are_classes(self) -> bool:
        """Whether the labels are class indices, not real targets."""
        return self.run.labels.are_classes

    @property
    def drop(self) -> float | None:
        """The PC's accuracy minus the board's, or that of R²; negative where the board is better.

        None when R² is not defined, as the targets do not vary.
        """
        pc, board = (
            side.accuracy if self.are_classes else side.r2 for side in (self.pc, self.board)
        )
        return None if pc is None or board is None else pc - board

    @property
    def changed(self) -> NDArray[np.intp]:
        """The samples for which board and PC decide for different classes; none of real targets."""
        if self.board.decisions is None or self.pc.decisions is None:
            return np.array([], np.intp)
        samples: NDArray[np.intp] = np.flatnonzero(self.board.decisions != self.pc.decisions)
        return samples

    def changed_arrays(self) -> dict[str, NDArray[Any]]:
        """The changed samples as arrays: ``sample``, ``label``, inputs, and both stored outputs."""
        samples = self.changed
        inputs = enumerate(self.run.run.inputs.arrays)
        return {
            "sample": samples,
            "label": self.run.labels.array[samples],
            "board": self.board.outputs[samples],
            "pc": self.pc.outputs[samples],
            **{f"input_{number}": array[samples] for number, array in inputs},
        }

    @property
    def pc_note(self) -> str:
        """What ran on the PC."""
        engine = "TensorFlow" if self.reference == "tensorflow" else "LiteRT"
        other = f" of {self.against}" if self.against else ""
        return f"{engine} on this PC, {self.reference} kernels{other}"

    def board_figure(self, name: str) -> Measurement | None:
        """``accuracy``, ``rmse`` or ``r2`` of the board, None where it has no value."""
        value: float | None = getattr(self.board, name)
        return _figure(self._named(name), value, self.source, self._count_note(self.board))

    def pc_figure(self, name: str) -> Measurement | None:
        """As `board_figure`, of the PC."""
        value: float | None = getattr(self.pc, name)
        note = ", ".join(filter(None, (self._count_note(self.pc), self.pc_note)))
        return _figure(f"{self._named(name)}_pc", value, "exact", note)

    def drop_figure(self) -> Measurement | None:
        """The drop, None where it is not defined."""
        name = self._named("accuracy") if self.are_classes else "r2"
        return _figure(f"{name}_drop", self.drop, self.source, f"from {self.pc_note}")

    def measurements(self) -> list[Measurement]:
        """Every value: both sides and the drop."""
        found: list[Measurement | None] = []
        for name in ("accuracy",) if self.are_classes else ("rmse", "r2"):
            found += [self.board_figure(name), self.pc_figure(name)]
        return [figure for figure in (*found, self.drop_figure()) if figure]

    @property
    def is_binary(self) -> bool:
        """Whether the output is one score, which decides for class 1 above the threshold."""
        return self.are_classes and self.board.tensor.elements == 1

    def _named(self, name: str) -> str:
        top_k = self.run.task.top_k
        return f"{name}_top{top_k}" if name == "accuracy" and top_k > 1 else name

    def _count_note(self, side: Side) -> str:
        return f"{side.correct} of {self.count} samples" if self.are_classes else ""


def compared(
    run: LabelledRun,
    by_path: Mapping[str, Side],
    *,
    source: Source,
    failed_paths: Mapping[str, str],
    against: str = "",
) -> TaskComparison:
    """Hold the board against the nearest path of ``by_path``."""
    nearest = min(by_path, key=lambda path: _apart(run.board, by_path[path]))
    return TaskComparison(run, by_path, nearest, source, failed_paths, against)


def _figure(name: str, value: float | None, source: Source, note: str) -> Measurement | None:
    if value is None or not math.isfinite(value):
        return None
    better: Better = "lower" if name.startswith("rmse") or name.endswith("_drop") else "higher"
    return Measurement(name, float(value), "1", better, source, note)


def _apart(board: Side, pc: Side) -> float:
    if board.decisions is not None and pc.decisions is not None:
        return float(np.mean(board.decisions != pc.decisions))
    apart = float(np.mean(np.square(board.scores - pc.scores)))
    return math.inf if math.isnan(apart) else apart
