"""Explanations of a difference, as records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_autodeploy.metrics.records.diagnosis import (
    ElementRecord,
    ErrorRecord,
    ExplanationRecord,
    OperatorRecord,
)


def layer(position: int, apart: float | None, adds: float | None, **changes: Any) -> OperatorRecord:
    """An operator of an explanation."""
    made = OperatorRecord(
        position=position,
        operator="CONV_2D",
        tensor=position + 1,
        tensor_name=f"t{position}",
        dtype="int8",
        shape=(1, 4),
        scale=0.5,
        zero_point=3,
        apart=apart,
        adds=adds,
        not_a_number=False,
        allowed=0.0,
        least=1.0,
        unit="steps",
        wrong=bool(adds),
        metrics=ErrorRecord(None, None, 0.25, 0.5, 0.75, None),
        elements=2,
        of_elements=4,
        first=(ElementRecord((0, 2), 17, 5),),
    )
    return replace(made, **changes)


def explanation(*layers: OperatorRecord, **changes: Any) -> ExplanationRecord:
    """An explanation; the first wrong operator is where it starts."""
    made = ExplanationRecord(
        cause="board",
        headline="the board",
        lines=("board and TFLM: <12> steps",),
        inference=3,
        operator=next((each for each in layers if each.wrong), None),
        where="it starts in operator 1 CONV_2D",
        left="board",
        right="TFLM",
        method="kept tensors",
        board_runs=0,
        layers=layers,
        advice=("check it",),
        problems=("reading the rest",),
        requested=False,
    )
    return replace(made, **changes)
