"""The result of a run for a model on a board at a clock: the records of its tests, merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.board.use import BoardUse
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.record import Attempt, State, TestRecord
from pytest_autodeploy.metrics.records.accuracy import AccuracyRecord
from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord
from pytest_autodeploy.metrics.records.diagnosis import ExplanationRecord, SensitivityRecord
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.metrics.result_parts import (
    ResultAgreement,
    ResultEnergy,
    ResultMeasurement,
    ResultVerdict,
)
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.profile.records import LayerProfile

SCHEMA: Literal[2] = 2
"""Version of the JSON of a result."""


@dataclass(frozen=True)
class OutcomeRecord:
    """How a test ended, see ``TestRecord``."""

    nodeid: str
    outcome: str
    message: str
    failure_class: FailureClass | None
    attempts: tuple[Attempt, ...] = ()

    @property
    def flaky(self) -> bool:
        """Whether it passed after it had failed."""
        return self.outcome == "passed" and bool(self.attempts)


@dataclass(frozen=True)
class ResultFiles:
    """Files of the result, relative to the results folder; arrays are those of all its tests.

    ``characterization`` is the first of its two files: ``NAME_mc.json``, with ``NAME_md.json``.
    ``first_csv`` has the layers of the first inference where ``csv`` has those of a warm one.
    """

    json: str
    csv: str | None
    npz: tuple[str, ...]
    changed: tuple[str, ...]
    first_csv: str | None = None
    characterization: str | None = None


@dataclass(frozen=True)
class RunFacts:
    """Everything that differs between two equal runs: port, command line and times (ISO 8601).

    ``id`` is what ``--autodeploy-run-id`` says; ``boards``: what boards went through.
    """

    port: str | None = None
    command: str | None = None
    started: str | None = None
    finished: str | None = None
    id: str | None = None
    boards: tuple[BoardUse, ...] = ()


@dataclass(frozen=True)
class Provenance:
    """What a result was made with: versions of packages, None of those that are not there."""

    versions: Mapping[str, str | None]
    python: str | None = None
    platform: str | None = None


@dataclass(frozen=True)
class Result:
    """A model on a board at a clock, from the records of its tests; see ``TestRecord``.

    ``schema`` is the version of this form. None is what no test has measured.
    """

    model: ModelFacts
    board: BoardFacts
    tests: tuple[OutcomeRecord, ...]
    files: ResultFiles
    run: RunFacts
    seed: int | None
    state: State | None
    measurements: tuple[ResultMeasurement, ...]
    agreement: ResultAgreement | None
    sensitivity: SensitivityRecord | None
    accuracy: AccuracyRecord | None
    explanation: ExplanationRecord | None
    profile: LayerProfile | None
    power: tuple[ResultEnergy, ...]
    comparison: Comparison | None
    verdicts: tuple[ResultVerdict, ...]
    artifacts: ArtifactsRecord | None
    npu: Estimate | None
    provenance: Provenance | None = None
    first_profile: LayerProfile | None = None
    schema: Literal[2] = SCHEMA


Recorded = TestRecord | Result
"""What reports render: one test, or all tests of a model on a board."""
