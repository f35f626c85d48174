"""The record of a test: about its model, board and measurements, for every report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.records.accuracy import AccuracyRecord
from pytest_autodeploy.metrics.records.agreement import AgreementRecord
from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord
from pytest_autodeploy.metrics.records.diagnosis import ExplanationRecord, SensitivityRecord
from pytest_autodeploy.metrics.records.energy import EnergyRecord
from pytest_autodeploy.metrics.records.facts import (
    NO_BOARD,
    Again,
    BoardFacts,
    BoardUse,
    ModelFacts,
)
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.profile.records import Histogram, LayerProfile

State = Literal["carry", "reset"]
"""Of a model with variables: carried from inference to inference, or reset before each."""


@dataclass(frozen=True)
class RecordFiles:
    """Files that a test left, relative to the results folder.

    ``npz``: inputs and outputs that differ; ``changed``: samples that the board decides otherwise;
    ``characterization``: the first of its two files.
    """

    npz: str | None = None
    changed: str | None = None
    characterization: str | None = None


NO_FILES = RecordFiles()


@dataclass(frozen=True)
class Attempt:
    """An earlier attempt of a test that was run again: how it failed, and what it had measured.

    ``again``: as its ``board`` broke, it was tried once more in this way; None of any other rerun.
    """

    failure: FailureClass
    message: str
    measurements: tuple[Measurement, ...] = ()
    board: str | None = None
    again: Again | None = None


@dataclass(frozen=True)
class TestRecord:
    """What a test with a model has measured, and how that was judged; None is what it has not.

    ``outcome`` is pytest's, and ``error`` for a failure outside of the test's body; ``message`` is
    the first line of a failure, or the reason of a skip. ``inputs`` says where they come from, and
    ``seed`` what random ones were made with. ``npu`` is the estimate of a test with no board.
    ``first_profile`` is that of the first inference where ``profile`` is of a warm one.
    ``attempts`` are the earlier ones of a test that was run again. ``histogram`` is of the times of
    its inferences. ``uses``: what boards went through, also in earlier attempts.
    """

    __test__: ClassVar[bool] = False

    nodeid: str
    outcome: str
    message: str
    model: ModelFacts
    board: BoardFacts = NO_BOARD
    failure_class: FailureClass | None = None
    seed: int | None = None
    inputs: str | None = None
    state: State | None = None
    measurements: tuple[Measurement, ...] = ()
    agreement: AgreementRecord | None = None
    sensitivity: SensitivityRecord | None = None
    accuracy: AccuracyRecord | None = None
    explanation: ExplanationRecord | None = None
    profile: LayerProfile | None = None
    first_profile: LayerProfile | None = None
    power: tuple[EnergyRecord, ...] = ()
    comparison: Comparison | None = None
    verdicts: tuple[Row, ...] = ()
    artifacts: ArtifactsRecord | None = None
    npu: Estimate | None = None
    files: RecordFiles = NO_FILES
    log: str = ""
    attempts: tuple[Attempt, ...] = ()
    histogram: Histogram | None = None
    uses: tuple[BoardUse, ...] = ()

    @property
    def flaky(self) -> bool:
        """Whether it passed after it had failed."""
        return self.outcome == "passed" and bool(self.attempts)


def to_plain(record: TestRecord) -> dict[str, Any]:
    """The record as plain values, which can cross process borders."""
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain


def from_plain(plain: dict[str, Any]) -> TestRecord:
    """The record that ``to_plain`` made plain. Raises msgspec.ValidationError for anything else."""
    import msgspec

    return msgspec.convert(plain, TestRecord)
