"""What the inputs of a test would notice, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import (
        ChangeNoticed,
        OperatorSensitivity,
        Sensitivity,
    )


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
    """What ``count`` inferences would notice, see ``diagnosis.sensitivity``, in ``words``.

    ``shares`` are by change; ``complete``: it is known of every operator; ``doubtful``: inferences
    that are beyond the tolerance though every operator is right.
    """

    words: str
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
        words=describe(found),
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
        operators=tuple(map(_operator, found.operators)),
    )


def _operator(found: OperatorSensitivity) -> OperatorChanges:
    changes = {name: _change(change) for name, change in found.changes.items()}
    return OperatorChanges(found.position, found.operator, changes, found.unknown)


def _change(found: ChangeNoticed) -> ChangeRecord:
    noticing = [inference for by in found.by for inference in by[:1]]
    return ChangeRecord(found.variants, found.seen, found.noticed, min(noticing, default=None))
