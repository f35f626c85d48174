"""Accuracy on data with labels, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SideRecord:
    """How accurate one side is: ``accuracy`` and ``correct`` of classes, else ``rmse`` and ``r2``.

    None is what the task does not have, and what is not defined or not finite.
    """

    accuracy: float | None = None
    correct: int | None = None
    rmse: float | None = None
    r2: float | None = None


@dataclass(frozen=True)
class ChangedDecision:
    """A sample for which the sides decide otherwise: the class of each, and the score of that.

    None is a side without a decision, as its scores are not numbers.
    """

    sample: int
    label: int
    board: int | None
    board_score: float | None
    pc: int | None
    pc_score: float | None


@dataclass(frozen=True)
class AccuracyRecord:
    """The board held against the PC.

    ``output`` is the name of the one that is judged. ``pc``: by kernels, of which ``reference``
    is the set that the board is held against; ``against`` is the file of another model that the PC
    ran. ``confusion``: by label the count of each decision of the board, None of many classes;
    ``confused``: label, decision (-1 without one) and count of what was decided wrongly most.
    """

    text: str
    task: Literal["classification", "regression"]
    samples: int
    inputs: str
    labels: str
    output: str
    top_k: int | None
    threshold: float | None
    board: SideRecord
    pc: Mapping[str, SideRecord]
    reference: str
    against: str | None
    failed_paths: Mapping[str, str]
    drop: float | None
    changed: tuple[ChangedDecision, ...]
    classes: int | None
    confusion: tuple[tuple[int, ...], ...] | None
    confused: tuple[tuple[int, int, int], ...]
    restarts: tuple[str, ...]
