"""The record of a test: about its model, board and measurements, for every report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.records.accuracy import AccuracyRecord
from pytest_autodeploy.metrics.records.agreement import AgreementRecord
from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord
from pytest_autodeploy.metrics.records.energy import EnergyRecord
from pytest_autodeploy.metrics.records.explanation import ExplanationRecord
from pytest_autodeploy.metrics.records.facts import NO_BOARD, BoardFacts, ModelFacts
from pytest_autodeploy.metrics.verdict import Verdict
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.profile.records import LayerProfile

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judge import Judgement
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.measured import Latency, MemoryUse
    from pytest_autodeploy.session.model_session import ModelSession

State = Literal["carry", "reset"]
"""Of a model with variables: carried from inference to inference, or reset before each."""


@dataclass(frozen=True)
class RecordFiles:
    """Arrays that a test left, relative to the results folder.

    ``npz``: inputs and outputs that differ; ``changed``: samples that the board decides otherwise.
    """

    npz: str | None = None
    changed: str | None = None


NO_FILES = RecordFiles()


@dataclass(frozen=True)
class TestRecord:
    """What a test with a model has measured, and how that was judged; None is what it has not.

    ``outcome`` is pytest's, and ``error`` for a failure outside of the test's body; ``message`` is
    the first line of a failure, or the reason of a skip. ``inputs`` says where they come from, and
    ``seed`` what random ones were made with. ``npu`` is the estimate of a test with no board.
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
    accuracy: AccuracyRecord | None = None
    explanation: ExplanationRecord | None = None
    profile: LayerProfile | None = None
    power: tuple[EnergyRecord, ...] = ()
    comparison: Comparison | None = None
    verdicts: tuple[Verdict, ...] = ()
    artifacts: ArtifactsRecord | None = None
    npu: Estimate | None = None
    files: RecordFiles = NO_FILES
    log: str = ""


def to_plain(record: TestRecord) -> dict[str, Any]:
    """The record as plain values, which can cross process borders."""
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain


def from_plain(plain: dict[str, Any]) -> TestRecord:
    """The record that ``to_plain`` made plain. Raises msgspec.ValidationError for anything else."""
    import msgspec

    return msgspec.convert(plain, TestRecord)


Record = dict[str, Any]


def model_facts(model_id: str, model: Model) -> Record:
    """What the file says."""
    return {
        "id": model_id,
        "name": model.name,
        "path": str(model.path),
        "sha256": model.sha256,
        "size_bytes": model.size_bytes,
        "macs": model.macs,
        "known_macs": model.known_macs,
        "unknown_operators": list(model.unknown_operators),
        "operators": len(model.operators),
        "parameters": model.parameters,
        "layers": [
            {"index": operator.index, "tag": operator.name, "macs": operator.macs}
            for operator in model.operators
            if operator.subgraph == 0
        ],
    }


def board_facts(session: ModelSession) -> Record:
    """What the board says of itself."""
    identity = session.identity
    return {
        "id": session.board.id,
        "name": identity.board,
        "kind": session.kind.name,
        "source": session.source,
        "core": identity.core,
        "port": session.board.port,
        "build_id": identity.build_id,
        "engine": identity.engine,
        "engine_version": identity.engine_version,
        "clock": "HP" if identity.clock else "LP",
        "clock_hz": identity.clocks_hz[identity.clock],
    }


def measured_facts(session: ModelSession, judgement: Judgement | None) -> Record:
    """What a test has measured and how it was judged."""
    measured = session.measured
    verdicts = judgement.verdicts if judgement else ()
    agreement = judgement.agreement if judgement else None
    comparison = judgement.comparison if judgement else None
    accuracy = judgement.accuracy if judgement else None
    explanation = judgement.explanation if judgement else None
    measurements = measurements_of(session, agreement)
    if accuracy:
        measurements += accuracy.measurements()
    return {
        "seed": session.inputs.seed,
        "inputs": session.inputs.origin,
        "state": session.state_mode if session.model.stateful else None,
        "measurements": [m.as_dict() for m in measurements],
        "agreement": agreement.as_dict() if agreement else None,
        "accuracy": accuracy.as_dict() if accuracy else None,
        "explanation": explanation.as_dict() if explanation else None,
        "profile": measured.profile.as_dict() if measured.profile else None,
        "power": [energy.as_dict() for energy in measured.power.values()],
        "comparison": comparison.as_dict() if comparison else None,
        "verdicts": [verdict.as_dict() for verdict in verdicts],
        "log": "".join(measured.log),
    }


def estimate_facts(estimate: Estimate, judgement: Judgement | None) -> Record:
    """What an estimate says of a model on an accelerator, which stands in a board's place."""
    from pytest_autodeploy.npu.layer_csv import layer_csv
    from pytest_autodeploy.npu.measurements import accelerator_facts, measurements_of

    verdicts = judgement.verdicts if judgement else ()
    return {
        "board": accelerator_facts(estimate),
        "measurements": [m.as_dict() for m in measurements_of(estimate)],
        "npu": estimate.as_dict(),
        "npu_csv": layer_csv(estimate),
        "verdicts": [verdict.as_dict() for verdict in verdicts],
    }


def measurements_of(session: ModelSession, agreement: Agreement | None) -> list[Measurement]:
    """Every value of what a test has measured."""
    measured = session.measured
    values = [
        Measurement("layers", session.state.layers, "1", "neither", session.source),
        Measurement("model_size", session.model.size_bytes, "B", "lower", "exact"),
    ]
    if session.model.macs is not None:
        values.append(Measurement("macs", session.model.macs, "1", "neither", "estimated"))
    if measured.latency:
        values += _of_latency(measured.latency, session.model)
    if measured.profile:
        values += _of_profile(session)
    if measured.memory:
        values += _of_memory(measured.memory)
    if agreement and math.isfinite(agreement.distance):
        distance, unit = agreement.distance, agreement.distance_unit
        values.append(Measurement("output_distance", distance, unit, "lower", session.source))
    for energy in measured.power.values():
        values += energy.measurements()
    if measured.arena:
        tuned, note = measured.arena, f"tries of a size: {measured.arena.tries}"
        values.append(
            Measurement("arena_tuned", tuned.arena_bytes, "B", "lower", tuned.source, note)
        )
    return values


def _of_latency(latency: Latency, model: Model) -> list[Measurement]:
    values = [latency.measurement(name) for name in ("first", "median", "p95", "max")]
    timed = len(latency.samples_us)
    values.append(Measurement("inferences_timed", timed, "1", "neither", latency.source))
    if model.macs and latency.median_us:
        rate = model.macs / (latency.median_us * 1e-6)
        values.append(Measurement("macs_per_second", rate, "1/s", "higher", latency.source))
    return values


def _of_profile(session: ModelSession) -> list[Measurement]:
    profile = session.measured.profile
    assert profile is not None
    values = [Measurement("profile_time", profile.total_us, "us", "lower", profile.source)]
    cycles = profile.total_cycles
    if cycles is not None:
        values.append(Measurement("profile_cycles", cycles, "1", "lower", profile.source))
        if session.model.macs:
            per_mac = cycles / session.model.macs
            values.append(Measurement("cycles_per_mac", per_mac, "1", "lower", profile.source))
    return values


def _of_memory(memory: MemoryUse) -> list[Measurement]:
    return [
        Measurement(
            "arena_used", memory.arena_used_bytes, "B", "lower", memory.source, memory.note
        ),
        Measurement("arena_given", memory.arena_given_bytes, "B", "neither", memory.source),
    ]
