"""Every value of what a test has measured, by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Measurement

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.measured import Latency, MemoryUse
    from pytest_autodeploy.session.model_session import ModelSession


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
