"""Outputs: what the board computes against what the PC computes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.outputs import DECLARATION
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, failure_block, row
from pytest_autodeploy.metrics.subject import Subject
from pytest_autodeploy.reference.agreement import Agreement
from pytest_autodeploy.reference.compare import compare, describe, failure_text


class Outputs(Metric):
    """The outputs of the test's inferences, held against the PC's."""

    declaration = DECLARATION

    def provide(self, subject: Subject) -> None:
        """Run the session's own inputs and hold the outputs against the PC's."""
        if subject.board.measured.run is None:
            subject.board.run()
        subject.evidence.agreement = subject.evidence.agreement or _agreement(subject, Tolerance())

    def measurements(self, subject: Subject) -> Iterator[Measurement]:
        """How far the outputs are from the PC's: ``output_distance`` in steps or real units."""
        agreement = subject.evidence.agreement
        if agreement and math.isfinite(agreement.distance):
            distance, unit = agreement.distance, agreement.distance_unit
            yield Measurement("output_distance", distance, unit, "lower", subject.board.source)

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether the test has run inferences."""
        return subject.board.measured.run is not None

    def measure(self, subject: Subject, _declared: Declared) -> None:
        """Run the session's own inputs; the limit says what they are held against."""
        subject.board.run()

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row: whether all outputs lie within the tolerance of a set of kernels."""
        agreement = _agreement(subject, declared.limit)
        evidence = subject.evidence
        if evidence.agreement is None or (evidence.agreement.passed and not agreement.passed):
            evidence.agreement, evidence.tolerance = agreement, declared.limit
        if declared.origin == "default":  # it depends on the outputs' types
            declared = replace(declared, text=f"output_tolerance({agreement.tolerance})")
        if agreement.passed:
            yield row(declared, "pass", describe(agreement), failure="wrong output")
            return
        text = f"outputs differ from the PC's\n{failure_text(agreement)}"
        text = failure_block(declared, subject, text)
        yield row(declared, "FAIL", text, failure="wrong output")


def _agreement(subject: Subject, tolerance: Tolerance) -> Agreement:
    session = subject.board
    run = session.measured.run
    assert run is not None
    reference = subject.services.reference(session.model, tolerance.reference)
    by_path = reference.run(run.inputs, reset_each=run.reset_each)
    return compare(
        session.model, run.outputs, by_path, tolerance, failed_paths=reference.failed_paths
    )
