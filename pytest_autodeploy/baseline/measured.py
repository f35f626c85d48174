"""What the tests of a run have measured, put together per model, board and clock mode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.profile.records import LayerProfile


@dataclass(frozen=True)
class Measured:
    """A model on a board in one clock mode: facts, measurements and profile."""

    model: ModelFacts
    board: BoardFacts
    measurements: Sequence[Measurement]
    profile: LayerProfile | None
    passed: bool


def title_of(record: TestRecord | Measured) -> str:
    """The model and board of a record, for people."""
    return f"{one_line(record.model.id)} on {one_line(record.board.id or '')}"


def title_of_one(measured: Measured) -> str:
    """The same, with which one of several boards of a rig it was."""
    return f"{one_line(measured.model.id)} on {one_line(measured.board.label)}"


def measured_by(records: Iterable[TestRecord]) -> list[Measured]:
    """Put records together; of a metric, and of layers, those with the most repeats count.

    Those of another board of the type are apart.

    Records without a board that said what it is, such as those of failed set-ups, are left out.
    """
    groups: dict[tuple[str | None, ...], list[TestRecord]] = {}
    for record in records:
        if record.board.clock_hz is not None and not record.npu:
            board = record.board
            key = title_of(record), record.model.sha256, board.clock, board.one
            groups.setdefault(key, []).append(record)
    return [
        Measured(
            group[-1].model,
            group[-1].board,
            _best(group),
            max(
                (record.profile for record in group if record.profile),
                key=lambda profile: profile.repeats,
                default=None,
            ),
            all(record.outcome == "passed" for record in group),
        )
        for group in groups.values()
    ]


def _best(records: Sequence[TestRecord]) -> list[Measurement]:
    by_name: dict[str, Measurement] = {}
    for record in records:
        for item in record.measurements:
            kept = by_name.get(item.name, item)
            if item.repeats >= kept.repeats and math.isfinite(item.value):
                by_name[item.name] = item
    return [by_name[name] for name in sorted(by_name)]
