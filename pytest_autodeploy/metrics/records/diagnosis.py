"""What diagnosis found out, as records: why outputs differ, and what the inputs would notice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.cause import Cause, Method
from pytest_autodeploy.metrics.records.plain import recorded
from pytest_autodeploy.reference.agreement import Unit

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.diagnosis.layers import Layer
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import (
        ChangeNoticed,
        OperatorSensitivity,
        Sensitivity,
    )


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


@dataclass(frozen=True)
class ChangeRecord:
    """A change of an operator's outputs, made in ``variants``, of which ``seen`` were noticed.

    ``noticed``: all of them; ``first`` is the inference that notices the first one, None where no
    inference notices any.
    """

    variants: int
    seen: int
    noticed: bool
    first: int | None


@dataclass(frozen=True)
class OperatorChanges:
    """An operator, and its changes by name; ``unknown`` says why there are none."""

    position: int
    operator: str
    changes: Mapping[str, ChangeRecord]
    unknown: str


@dataclass(frozen=True)
class ShareRecord:
    """Of a change, how many ``operators`` can have it, and of how many it would be ``noticed``."""

    noticed: int
    operators: int
    unknown: int


@dataclass(frozen=True)
class SensitivityRecord:
    """What ``count`` inferences would notice, see ``diagnosis.sensitivity``, in ``text``.

    ``shares`` are by change; ``complete``: it is known of every operator; ``doubtful``: inferences
    that are beyond the tolerance though every operator is right.
    """

    text: str
    inputs: str
    count: int
    tolerance: str
    engine: str
    complete: bool
    doubtful: tuple[int, ...]
    shares: Mapping[str, ShareRecord]
    operators: tuple[OperatorChanges, ...]


def sensitivity_record(found: Sensitivity) -> SensitivityRecord:
    """The record of an answer."""
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import describe
    from pytest_autodeploy.limits.sensitivity import CHANGES

    counts = {change: found.counted(change) for change in CHANGES}
    return SensitivityRecord(
        text=describe(found),
        inputs=found.inputs,
        count=found.count,
        tolerance=found.tolerance,
        engine=found.engine,
        complete=found.complete,
        doubtful=found.doubtful,
        shares={
            change: ShareRecord(count.noticed, count.operators, count.unknown)
            for change, count in counts.items()
        },
        operators=tuple(map(_operator_changes, found.operators)),
    )


def _operator_changes(found: OperatorSensitivity) -> OperatorChanges:
    changes = {name: _change(change) for name, change in found.changes.items()}
    return OperatorChanges(found.position, found.operator, changes, found.unknown)


def _change(found: ChangeNoticed) -> ChangeRecord:
    noticing = [inference for by in found.by for inference in by[:1]]
    return ChangeRecord(found.variants, found.seen, found.noticed, min(noticing, default=None))
