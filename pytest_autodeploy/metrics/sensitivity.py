"""Sensitivity: how many operators the inputs of a test would notice if they were wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity, describe
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.sensitivity import CHANGES, DECLARATION
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, failure_block, row
from pytest_autodeploy.metrics.subject import NotJudged, Subject
from pytest_autodeploy.session.measured import RunResult

NAMES = dict(
    zip(
        CHANGES,
        ("input_sensitivity", "input_sensitivity_1_step", "input_sensitivity_channel"),
        strict=True,
    )
)
"""The measurement of each change."""


class InputSensitivity(Metric):
    """What the inputs of the test's inferences would notice."""

    declaration = DECLARATION

    def provide(self, subject: Subject) -> None:
        """Run the session's own inputs, and change the operators one by one on this PC."""
        run = subject.board.measured.run or subject.board.run()
        evidence = subject.evidence
        evidence.sensitivity = evidence.sensitivity or subject.services.sensitivity(run)

    def measurements(self, subject: Subject) -> Iterator[Measurement]:
        """The share of operators that would be noticed, for each change, where all are known."""
        found = subject.evidence.sensitivity
        if found is not None and found.complete:
            for change in CHANGES:
                if found.counted(change).operators:
                    yield _measurement(found, change)

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether it was worked out."""
        return subject.evidence.sensitivity is not None

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row. Raises NotJudged when operators of which it is not known may decide it."""
        found, limit = subject.evidence.sensitivity, declared.limit
        assert found is not None
        count = found.counted(limit.change)
        if not count.operators:
            raise NotJudged(f"no operator has outputs that can be changed by {limit.change}")
        if count.least < limit.min <= count.most:
            raise NotJudged(
                f"{describe(found)}",
                hint="--autodeploy-sensitivity-time SECONDS allows it more time",
            )
        measurement = _measurement(found, limit.change)
        if count.least >= limit.min:
            yield row(declared, "pass", describe(found), measurement)
            return
        text = (
            f"the inputs tell too little\n"
            f"  limit   {limit.min:.6g} of the operators, changed by {limit.change}\n"
            f"  value   {count.noticed} of {count.operators} ({found.inputs})\n"
            f"  {describe(found)}\n"
            "  to do: --tflite-search-inputs finds inputs that notice more, or give real data"
        )
        yield row(declared, "FAIL", failure_block(declared, subject, text), measurement)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """What is kept of an earlier run, or on request worked out now."""
        run = subject.session.measured.run if subject.session else None
        if judged or run is None:
            return
        try:
            found = self._unasked(subject, run)
        except AutodeployError as error:
            yield _not_done(subject, str(error))
            return
        if found is not None:
            subject.evidence.sensitivity = found
            measurement = _measurement(found, CHANGES[0])
            text = f"{describe(found)}, no limit"
            limit = DECLARATION.name
            yield Row(limit, limit, "none", "no limit", text, measurement)

    def _unasked(self, subject: Subject, run: RunResult) -> Sensitivity | None:
        services = subject.services
        if services.wants_sensitivity:
            return services.sensitivity(run)
        return services.known_sensitivity(run)


def _measurement(found: Sensitivity, change: str) -> Measurement:
    count = found.counted(change)
    note = f"{count.noticed} of {count.operators} operators"
    if count.unknown:
        note += f", {count.unknown} not known"
    return Measurement(NAMES[change], count.least, "1", "higher", "modelled", note)


def _not_done(subject: Subject, reason: str) -> Row:
    """What was asked for and could not be done is red."""
    text = f"{subject.title}: what the inputs would notice is not known\n  {reason}"
    option = "--autodeploy-sensitivity"
    return Row(DECLARATION.name, option, option, "NOT JUDGED", text, failure="not judged")
