"""A result as one record, with what only its tests' records hold: waveforms and times."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.result import Result


def whole_record(result: Result, records: Sequence[TestRecord]) -> TestRecord:
    """The record that a report of all tests of a result shows; ``records`` are of these tests."""
    power = {energy.mode: energy for record in records for energy in record.power}
    times = [record.histogram for record in records if record.histogram]
    return TestRecord(
        nodeid="",
        outcome="",
        message="",
        model=result.model,
        board=result.board,
        seed=result.seed,
        state=result.state,
        measurements=result.measurements,
        agreement=result.agreement,
        sensitivity=result.sensitivity,
        accuracy=result.accuracy,
        explanation=result.explanation,
        profile=result.profile,
        first_profile=result.first_profile,
        power=tuple(power[mode] for mode in sorted(power)),
        comparison=result.comparison,
        verdicts=result.verdicts,
        artifacts=result.artifacts,
        npu=result.npu,
        histogram=times[-1] if times else None,
    )
