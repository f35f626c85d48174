"""Why outputs differ and where that starts, as a record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.cause import Cause, Method
from pytest_autodeploy.metrics.records.plain import recorded
from pytest_autodeploy.reference.agreement import Unit

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.diagnosis.layers import Layer


@dataclass(frozen=True)
class ErrorRecord:
    """The errors of an output, see ``reference.metrics.ErrorMetrics``; None where not finite."""

    max_abs: float | None
    mean_abs: float | None
    rmse: float | None
    relative_l2: float | None
    cosine: float | None
    nse: float | None


@dataclass(frozen=True)
class ElementRecord:
    """An element that differs; None stands for what is not a number."""

    index: tuple[int, ...]
    left: int | float | None
    right: int | float | None


@dataclass(frozen=True)
class OperatorRecord:
    """An operator's output on two sides, see ``diagnosis.layers.Layer``.

    ``not_a_number``: ``apart`` or ``adds`` is infinite, and therefore None.
    """

    position: int
    operator: str
    tensor: int
    tensor_name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int | None
    apart: float | None
    adds: float | None
    not_a_number: bool
    allowed: float
    least: float
    unit: Unit
    wrong: bool
    metrics: ErrorRecord | None
    elements: int
    of_elements: int
    first: tuple[ElementRecord, ...]


@dataclass(frozen=True)
class ExplanationRecord:
    """An explanation, see ``diagnosis.explanation.Explanation``, and what was found of operators.

    ``operator`` is where it starts, None when that is not known.
    """

    cause: Cause
    headline: str
    lines: tuple[str, ...]
    inference: int
    operator: OperatorRecord | None
    where: str
    left: str
    right: str
    method: Method
    board_runs: int
    layers: tuple[OperatorRecord, ...]
    advice: tuple[str, ...]
    problems: tuple[str, ...]
    requested: bool


def explanation_record(explanation: Explanation) -> ExplanationRecord:
    """The record of an explanation."""
    found = explanation.found
    return ExplanationRecord(
        cause=explanation.cause,
        headline=explanation.headline,
        lines=explanation.lines,
        inference=explanation.inference,
        operator=_operator(found.operator) if found.operator else None,
        where=found.where,
        left=found.left,
        right=found.right,
        method=found.method,
        board_runs=found.board_runs,
        layers=tuple(map(_operator, found.layers)),
        advice=explanation.advice,
        problems=explanation.problems,
        requested=explanation.requested,
    )


def _operator(layer: Layer) -> OperatorRecord:
    infinite = math.inf in (layer.apart, layer.adds)
    return recorded(layer, OperatorRecord, not_a_number=infinite, wrong=layer.wrong)
