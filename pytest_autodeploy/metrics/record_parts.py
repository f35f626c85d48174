"""Filling the record of a test: from its session, or from an estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.judged import with_judgement
from pytest_autodeploy.metrics.measurements import model_measurements
from pytest_autodeploy.metrics.records.energy import energy_record
from pytest_autodeploy.metrics.records.facts import accelerator_facts, board_facts, pins_facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.subject import Subject
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.session.collected import Measured
    from pytest_autodeploy.session.over_pins import PinsRun


def with_session(
    record: TestRecord,
    subject: Subject,
    judgement: Judgement | None,
    found: Iterable[Measurement],
) -> TestRecord:
    """The record with what the test has measured through its session, and how it was judged.

    ``found`` are the measurements of the metrics.
    """
    session = subject.board
    measured = session.measured
    times = measured.latency
    by_name = {each.name: each for each in (*model_measurements(session), *found)}
    record = replace(
        record,
        board=board_facts(session),
        seed=session.inputs.seed,
        inputs=session.inputs.origin,
        state=session.state_mode if session.model.stateful else None,
        measurements=tuple(by_name.values()),
        profile=measured.profile,
        first_profile=measured.first_profile if _is_another(measured) else None,
        power=tuple(map(energy_record, measured.power.values())),
        histogram=times.histogram if times else None,
        log="".join(measured.log),
    )
    return with_judgement(record, judgement) if judgement else record


def _is_another(measured: Measured) -> bool:
    """Whether the first inference was profiled beside a warm one."""
    return measured.profile is not None and measured.profile.run == "warm"


def with_pins(
    record: TestRecord,
    run: PinsRun,
    judgement: Judgement | None,
) -> TestRecord:
    """The record with what a power meter saw of a board without RPC."""
    energies = run.energies.values()
    return replace(
        record,
        board=pins_facts(run),
        measurements=tuple(each for energy in energies for each in energy.measurements()),
        power=tuple(map(energy_record, energies)),
        verdicts=judgement.rows if judgement else (),
    )


def with_estimate(
    record: TestRecord, estimate: Estimate, judgement: Judgement | None
) -> TestRecord:
    """The record with what an estimate says, whose accelerator stands in a board's place."""
    from pytest_autodeploy.npu.measurements import measurements_of as measurements_of_estimate

    return replace(
        record,
        board=accelerator_facts(estimate),
        measurements=tuple(measurements_of_estimate(estimate)),
        npu=estimate,
        verdicts=judgement.rows if judgement else (),
    )
