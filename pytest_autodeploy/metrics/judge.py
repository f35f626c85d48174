"""Judging a test: what its limits ask for is measured, then each limit gets its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.units import si
from pytest_autodeploy.limits.declarations import (
    Declared,
    EnergyLimit,
    LatencyBudget,
    MemoryLimit,
    PowerLimit,
)
from pytest_autodeploy.limits.npu import NpuBudget
from pytest_autodeploy.metrics.failures import CLASSES
from pytest_autodeploy.metrics.verdict import Verdict
from pytest_autodeploy.reference.compare import (
    Agreement,
    Tolerance,
    compare,
    describe,
    failure_text,
)
from pytest_autodeploy.settings.meter_choice import NO_METER

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.metrics.comparison import Comparison
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession

PCSide = Callable[[], "Reference"]
"""Gives the PC side when it is needed."""

PowerSide = Callable[[], "PowerMeter | None"]
"""Gives the power meter of the test's board when it is needed, None when there is none."""


@dataclass(frozen=True)
class Judgement:
    """The verdicts of a test, and the comparisons that they rest on."""

    verdicts: tuple[Verdict, ...]
    agreement: Agreement | None = None
    comparison: Comparison | None = None
    accuracy: TaskComparison | None = None
    explanation: Explanation | None = None

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that fail the test, the gravest class first."""
        failed = (verdict for verdict in self.verdicts if verdict.passed is False)
        return tuple(sorted(failed, key=lambda verdict: CLASSES.index(verdict.failure)))

    @property
    def unjudged(self) -> tuple[Verdict, ...]:
        """Limits of the test that could not be judged."""
        return tuple(v for v in self.verdicts if v.passed is None and v.origin == "marker")


def judge(
    session: ModelSession,
    limits: Mapping[str, Declared],
    pc_side: PCSide,
    power: PowerSide = lambda: None,
) -> Judgement:
    """Hold what the session has measured against the limits.

    A marker's limit is measured now if the test has not; others judge only what was measured.
    """
    verdicts: list[Verdict] = []
    agreement = None
    run = session.measured.run
    tolerance = limits.get("output_tolerance")
    if tolerance and (run or tolerance.origin == "marker"):
        agreement = _agreement(session, run or session.run(), tolerance, pc_side)
        verdicts.append(_outputs(tolerance, agreement, session))
    verdicts += _latency(session, limits.get("latency_budget"))
    verdicts += _memory(session, limits.get("memory_limit"))
    verdicts += _power(session, limits, power)
    return Judgement(tuple(verdicts), agreement)


def judge_estimate(estimate: Estimate, limits: Mapping[str, Declared]) -> Judgement:
    """Hold an NPU estimate against the budget of the test."""
    from pytest_autodeploy.metrics.npu import judge as judge_budget

    declared = limits.get("npu_budget")
    if declared is None or not isinstance(declared.limit, NpuBudget):
        return Judgement(())
    verdicts = judge_budget(estimate, declared.limit, words=declared.words, origin=declared.origin)
    return Judgement(tuple(verdicts))


def _agreement(
    session: ModelSession, run: RunResult, declared: Declared, pc_side: PCSide
) -> Agreement:
    tolerance = declared.limit
    assert isinstance(tolerance, Tolerance)
    reference = pc_side()
    by_path = reference.run(run.inputs, reset_each=run.reset_each)
    return compare(
        session.model, run.outputs, by_path, tolerance, failed_paths=reference.failed_paths
    )


def _outputs(declared: Declared, agreement: Agreement, session: ModelSession) -> Verdict:
    if declared.origin == "default":  # it depends on the outputs' types
        declared = replace(declared, words=f"output_tolerance({agreement.tolerance})")
    words = describe(agreement) if agreement.passed else failure_text(agreement)
    if not agreement.passed:
        words = failure_block(declared, session, f"outputs differ from the PC's\n{words}")
    passed, failure = agreement.passed, CLASSES[0]
    return Verdict(declared.words, declared.origin, passed, words, failure=failure)


def _latency(session: ModelSession, declared: Declared | None) -> list[Verdict]:
    limit = declared.limit if declared else None
    if declared and declared.origin == "marker" and session.measured.latency is None:
        session.latency()
    latency = session.measured.latency
    if latency is None:
        return []
    if declared is None or not isinstance(limit, LatencyBudget):
        return [unlimited("latency_budget", latency.measurement("median"))]
    return [_upper(declared, latency.measurement(limit.statistic), limit.us, session)]


def _memory(session: ModelSession, declared: Declared | None) -> list[Verdict]:
    limit = declared.limit if declared else None
    if declared and declared.origin == "marker" and session.measured.memory is None:
        session.memory()
    memory = session.measured.memory
    if memory is None:
        return []
    arena = Measurement(
        "arena_used", memory.arena_used_bytes, "B", "lower", memory.source, memory.note
    )
    model = Measurement("model_size", memory.model_bytes, "B", "lower", "exact")
    if declared is None or not isinstance(limit, MemoryLimit):
        return [unlimited("memory_limit", arena)]
    return [
        _upper(declared, measurement, bound, session)
        for measurement, bound in ((arena, limit.arena_bytes), (model, limit.model_bytes))
        if bound is not None
    ]


def _power(
    session: ModelSession, limits: Mapping[str, Declared], power: PowerSide
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    limited = set()
    for declared in limits.values():
        limit = declared.limit
        if not isinstance(limit, EnergyLimit | PowerLimit):
            continue
        if declared.origin == "marker" and limit.mode not in session.measured.power:
            meter = power()
            if meter is None:
                verdicts.append(Verdict(declared.words, declared.origin, None, NO_METER))
                continue
            meter.measure(session, limit.mode)
        if energy := session.measured.power.get(limit.mode):
            name = "energy" if isinstance(limit, EnergyLimit) else "power"
            bound = limit.uj if isinstance(limit, EnergyLimit) else limit.mw
            verdicts.append(_upper(declared, energy.measurement(name), bound, session))
            limited.add((name, limit.mode))
    for mode, energy in session.measured.power.items():
        if ("energy", mode) not in limited:
            verdicts.append(unlimited(f"energy_limit(mode={mode!r})", energy.measurement("energy")))
    return verdicts


def unlimited(name: str, measurement: Measurement) -> Verdict:
    """What is told of a measurement without a limit."""
    words = f"{si(measurement.value, measurement.unit)}, no limit"
    return Verdict(name, "none", None, words, measurement)


def _upper(
    declared: Declared, measurement: Measurement, bound: float, session: ModelSession
) -> Verdict:
    value = si(measurement.value, measurement.unit)
    source = ", ".join(part for part in (measurement.source, measurement.note) if part)
    if measurement.value <= bound:
        words = f"{value}, limit {si(bound, measurement.unit)}"
        return Verdict(declared.words, declared.origin, True, words, measurement)
    over = measurement.value - bound
    words = failure_block(
        declared,
        session,
        f"{measurement.name.replace('_', ' ')} is over its limit\n"
        f"  limit   {si(bound, measurement.unit)}\n"
        f"  value   {value} ({source})\n"
        f"  over    {si(over, measurement.unit)} ({100 * over / bound:.1f} %)",
    )
    return Verdict(declared.words, declared.origin, False, words, measurement)


def failure_block(declared: Declared, session: ModelSession, text: str) -> str:
    """The words of a failure: model, board and the first line of ``text``, the limit, the rest."""
    first, _, rest = text.partition("\n")
    return (
        f"{session.model.name} on {session.board.id}: {first}\n"
        f"  declared {declared.words} by {declared.origin}\n{rest}"
    )
